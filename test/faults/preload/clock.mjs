// The machine's clock, as far as this process sees it: moved by message. Nothing else of time (timers, performance.now) moves with it.
const RealDate = Date;
let shiftMs = 0;

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};

process.on('message', ({ clockShiftMs, id }) => {
  if (clockShiftMs === undefined) return;
  shiftMs = clockShiftMs;
  process.send({ id });
});
