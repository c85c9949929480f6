import { parseArgs } from 'node:util';

const FULL = {
  rounds: 7,
  warmUp: 3_000,
  /** Calls of one round. */
  sequential: 300,
  concurrent: 1_920,
  /** Attempts on the longest file. */
  longest: 100_000,
  decisions: 64,
  attempts: 1_000_000,
  files: 10_000,
  logEvents: 1_000_000,
  restSeconds: 20,
  restarts: 3,
  runs: 1_000,
};
const QUICK = {
  ...{ rounds: 3, warmUp: 320, sequential: 60, concurrent: 320, longest: 2_000, decisions: 16 },
  ...{ attempts: 100_000, files: 1_000, logEvents: 50_000, restSeconds: 2, restarts: 1, runs: 200 },
};

export const USAGE = `npm run bench -- [--quick] [--only record,decide,histogram,rebuild,simulate,classify] [--rounds n] [--warm-up n] [--longest n] [--events n] [--cpu-prof directory]

  --quick      a smoke run of about a minute: everything runs, no figure means much
  --only       some of the sections
  --rounds     interleaved rounds of each figure (${FULL.rounds})
  --warm-up    calls of each kind before the first round (${FULL.warmUp})
  --longest    attempts on the longest file (${FULL.longest})
  --events     events that a rebuild reads (${FULL.logEvents}); that section runs only where it is asked for, as does simulate: how often the
               intervals of reports cover what is true of simulated builders
  --cpu-prof   a CPU profile of the service in that directory, for bench/self-time.mjs`;

/** What a run does, from its command line. Throws where that is not understood. */
export function readOptions(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type: 'string', default: 'record,decide,histogram' },
      rounds: { type: 'string' },
      'warm-up': { type: 'string' },
      longest: { type: 'string' },
      events: { type: 'string' },
      'cpu-prof': { type: 'string' },
    },
  });
  const sections = values.only.split(',');
  for (const section of sections)
    if (!['record', 'decide', 'histogram', 'rebuild', 'simulate', 'classify'].includes(section))
      throw new Error(`there is no section ${section}\n\n${USAGE}`);
  const size = values.quick ? QUICK : FULL;
  return {
    ...size,
    quick: values.quick,
    help: values.help,
    sections,
    rounds: wholeNumber(values.rounds, size.rounds),
    warmUp: wholeNumber(values['warm-up'], size.warmUp),
    longest: wholeNumber(values.longest, size.longest),
    logEvents: wholeNumber(values.events, size.logEvents),
    cpuProf: values['cpu-prof'],
  };
}

function wholeNumber(text, otherwise) {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${text} is not a count\n\n${USAGE}`);
  return Number(text);
}
