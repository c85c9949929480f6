/** The value below which a share of the values lies. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}

export const median = (values) => quantile(values, 0.5);

/** A figure of several rounds: its median, and between brackets the quartiles, so that one disturbed round does not show as spread. */
export function figure(values, unit = '') {
  if (values.length === 0) return '';
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share));
  const digits = decimals(middle);
  const shown = `${rounded(middle, digits)}${unit && ` ${unit}`}`;
  return values.length === 1 ? shown : `${shown} (${rounded(low, digits)}–${rounded(high, digits)})`;
}

/** Three significant digits are more than a shared machine can tell apart. */
function decimals(value) {
  return value >= 100 ? 0 : value >= 10 ? 1 : 2;
}

function rounded(value, digits) {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** One ratio a round: what disturbs the machine for longer than a round disturbs both sides of it. */
export function ratios(ours, theirs) {
  return ours.map((value, round) => value / theirs[round]);
}

/** Calls `measure` for every kind in every round, in an order that turns with the rounds, so that no kind is always first. */
export async function interleaved(rounds, kinds, measure) {
  for (let round = 0; round < rounds; round += 1)
    for (let i = 0; i < kinds.length; i += 1) await measure(kinds[(i + round) % kinds.length], round);
}

/** Samples by name. */
export class Samples {
  #of = new Map();

  add(name, value) {
    this.of(name).push(value);
  }

  of(name) {
    if (!this.#of.has(name)) this.#of.set(name, []);
    return this.#of.get(name);
  }
}
