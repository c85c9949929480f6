import { type Chain, type Evidence, type Failure, noEvidence } from './evidence.js';
import { LateMap } from './late-map.js';
import { Overlay } from './overlay.js';

type Packed = ReturnType<typeof packEvidence>;

/** Neither an attempt's id nor a trial holds one. */
const BETWEEN = ' ';

/**
 * Live failures as columns, oldest first: patterns, tasks and profiles by number, ids and trials as one text each (which is much quicker to
 * read than as many), times as what has passed since the one before.
 */
export function packEvidence({ model, failures, tallies }: Evidence) {
  const live = [...failures.values()].sort((a, b) => a.sequence - b.sequence);
  const tasks = numbered(live.map(({ taskId }) => taskId));
  const sets = numbered(live.map(({ set }) => set));
  const profiles = numbered(live.map(({ profile }) => profile));
  const stem = commonStart(live.map(({ attemptId }) => attemptId));
  return {
    model,
    labels: [...tallies].map(([key, { pattern, code }]) => [key, { pattern, code }] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
    sequences: live.map(({ sequence }) => sequence),
    stem,
    attemptIds: live.map(({ attemptId }) => attemptId.slice(stem.length)).join(BETWEEN),
    trials: live.map(({ trial }) => trial ?? '').join(BETWEEN),
    times: live.map(({ at }, place) => at - (live[place - 1]?.at ?? 0)),
    imported: live.flatMap(({ imported }, place) => (imported ? [place] : [])),
    ...{
      tasks: tasks.names,
      ofTask: tasks.places,
      sets: sets.names,
      ofSet: sets.places,
      profiles: profiles.names,
      ofProfile: profiles.places,
    },
  };
}

/** Counts come out at once; a failure is made of its columns when somebody looks at it: most are never looked at again. */
export function unpackEvidence(packed: Packed): Evidence {
  const failures = new LateMap(packed.sequences, failuresOf(packed));
  const evidence = { ...noEvidence(packed.model), failures: new Overlay(failures) };
  for (const { of, newest } of chains(failures, packed.ofTask)) evidence.ofTask.set(packed.tasks[of]!, newest);
  const labels = new Map(packed.labels);
  for (const { of, newest, links } of chains(failures, packed.ofSet)) {
    const set = packed.sets[of]!;
    const keys: string[] = JSON.parse(set);
    evidence.sets.set(set, { keys, failures: links, newest, links });
    for (const key of keys) {
      const before = evidence.tallies.get(key) ?? { ...labels.get(key)!, failures: 0 };
      evidence.tallies.set(key, { ...before, failures: before.failures + links });
    }
  }
  return evidence;
}

function failuresOf(packed: Packed): (place: number) => Failure {
  const attemptIds = packed.attemptIds.split(BETWEEN);
  const trials = packed.trials.split(BETWEEN);
  const imported = new Set(packed.imported);
  let at = 0;
  const times = packed.times.map((passed) => (at += passed));
  return (place) => ({
    attemptId: packed.stem + attemptIds[place]!,
    taskId: packed.tasks[packed.ofTask[place]!]!,
    set: packed.sets[packed.ofSet[place]!]!,
    imported: imported.has(place),
    profile: packed.profiles[packed.ofProfile[place]!]!,
    trial: trials[place] || null,
    at: times[place]!,
    sequence: packed.sequences[place]!,
  });
}

/** A link that knows the place of its failure, and makes the next older one when it is asked for. */
class PackedLink implements Chain {
  constructor(
    private readonly failures: LateMap<Failure>,
    private readonly olderPlaces: Int32Array,
    private readonly place: number,
  ) {}

  get failure(): Failure {
    return this.failures.at(this.place);
  }

  get older(): Chain | null {
    const place = this.olderPlaces[this.place]!;
    return place === -1 ? null : new PackedLink(this.failures, this.olderPlaces, place);
  }
}

/** The failures of each number in a column as a chain, and how many there are. */
function chains(failures: LateMap<Failure>, column: readonly number[]): { of: number; newest: Chain; links: number }[] {
  const olderPlaces = new Int32Array(column.length);
  const newest: number[] = [];
  const links: number[] = [];
  for (const [place, of] of column.entries()) {
    olderPlaces[place] = newest[of] ?? -1;
    newest[of] = place;
    links[of] = (links[of] ?? 0) + 1;
  }
  return newest.map((place, of) => ({ of, newest: new PackedLink(failures, olderPlaces, place), links: links[of]! }));
}

/** Every different name once, in the order of their first places, and which of them stands at each place. */
export function numbered<T>(column: readonly T[]): { names: T[]; places: number[] } {
  const numbers = new Map<T, number>();
  const places = column.map((name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  });
  return { names: [...numbers.keys()], places };
}

function commonStart(texts: readonly string[]): string {
  let start = texts[0] ?? '';
  for (const text of texts) while (!text.startsWith(start)) start = start.slice(0, -1);
  return start;
}
