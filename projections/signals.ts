import type { EventData } from '../src/catalogue/events.js';
import { patternKey } from '../src/catalogue/primitives.js';
import type { Projection, RowKey, Table } from './projection.js';

const columns: Table['columns'] = {
  signalId: 'text',
  repo: 'text',
  targetFile: 'text',
  model: 'text',
  configuration: 'text',
  kind: 'text',
  pattern: 'text',
  code: 'text',
  occurrences: 'integer',
  distinctPatterns: 'integer',
  threshold: 'integer',
  evidence: 'json',
  raisedAt: 'time',
  clearedAt: 'time',
  reason: 'text',
  live: 'boolean',
};

/**
 * Every calibration signal that was ever raised, each with what raised it and how it ended. `signalId` is the id of the event that
 * raised it: a signal that comes again is another one. Who clears a signal names the file, the builder configuration and the pattern,
 * not the id: so what is live is kept a second time under those.
 */
export const signals: Projection = {
  name: 'signals',
  version: 1,
  tables: {
    signals: {
      columns,
      key: ['signalId'],
      indexes: [
        ['raisedAt', 'signalId'],
        ['repo', 'raisedAt', 'signalId'],
        ['targetFile', 'raisedAt', 'signalId'],
        ['model', 'raisedAt', 'signalId'],
        ['live', 'raisedAt', 'signalId'],
      ],
    },
    live: { columns: { stream: 'text', patternKey: 'text', ...columns }, key: ['stream', 'configuration', 'kind', 'patternKey'] },
  },
  handles: ['CalibrationSignalRaised', 'CalibrationSignalCleared'],

  needs({ event, stream }) {
    return event.type === 'CalibrationSignalCleared' ? [liveKey(stream, event.data)] : [];
  },

  evolve(rows, { event, id, stream }) {
    if (event.type === 'CalibrationSignalRaised') {
      const { at, ...raised } = event.data;
      const row = { ...raised, signalId: id, raisedAt: at, clearedAt: null, reason: null, live: true };
      return [
        { table: 'signals', key: [id], row },
        { ...liveKey(stream, raised), row: { ...row, stream, patternKey: keyOf(raised) } },
      ];
    }
    if (event.type !== 'CalibrationSignalCleared') return [];
    const key = liveKey(stream, event.data);
    const live = rows(key.table, ...key.key);
    if (live === undefined) return [];
    const { stream: _stream, patternKey: _key, ...raised } = live;
    const { at: clearedAt, reason } = event.data;
    return [
      { table: 'signals', key: [raised.signalId as string], row: { ...raised, clearedAt, reason, live: false } },
      { ...key, row: null },
    ];
  },
};

type Signal = Pick<EventData<'CalibrationSignalCleared'>, 'configuration' | 'kind' | 'pattern' | 'code'>;

/** A `per_file` signal has no pattern, and there is one of a configuration. */
function keyOf({ pattern, code }: Signal): string {
  return pattern === null ? '' : patternKey({ pattern, code });
}

function liveKey(stream: string, signal: Signal): RowKey {
  return { table: 'live', key: [stream, signal.configuration, signal.kind, keyOf(signal)] };
}
