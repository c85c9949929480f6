/**
 * Where the service is killed, in the code's own terms. `load` is what the builders do so that the point is passed, `upTo` the latest
 * pass at which it strikes, `durable` that a call which it cuts off has been written, `proves` what the end check holds against it.
 */
export const STARTING = [
  ['initdb: cluster half made', 'a half-made cluster is not taken for one'],
  ['ensureCluster: made, not renamed', 'the draft is cleared away and made again'],
  ['ensureCluster: renamed, never started', 'the cluster is used as it is'],
  ['createDatabase: before CREATE DATABASE', 'the database is made at the next start'],
  ['prepareSchema: before COMMIT', 'no half of the log tables'],
].map(([name, proves]) => ({ name, proves, load: 'starting', upTo: 1 }));

export const UNDER_LOAD = [
  { name: 'EventStoreDbLog.append(payload): before first chunk', load: 'mixed', upTo: 40, proves: 'nothing of the command, then once' },
  { name: 'EventStoreDbLog.append(payload): first of several durable', load: 'texts', upTo: 4, proves: 'half a text is completed' },
  { name: 'EventStoreDbLog.append(payload): middle chunk durable', load: 'texts', upTo: 4, proves: 'half a text is completed' },
  { name: 'Texts.write: texts durable, command not', load: 'mixed', upTo: 40, proves: 'texts stored once, command once' },
  { name: 'EventStoreDbLog.append(command): before', load: 'mixed', upTo: 60, proves: 'nothing of the command, then once' },
  {
    name: 'EventStoreDbLog.append(command): durable, unanswered',
    durable: true,
    load: 'mixed',
    upTo: 60,
    proves: 'repeated: first answer, no second event',
  },
  {
    name: 'CommandHandling.handle: done, answer not sent',
    durable: true,
    load: 'mixed',
    upTo: 60,
    proves: 'repeated: first answer, no second event',
  },
  { name: 'LogStatements.insert: sent, not confirmed', load: 'mixed', upTo: 60, proves: 'whole or not at all, then once' },
  { name: 'LogStatements.insert: committed, unanswered', load: 'mixed', upTo: 60, proves: 'repeated: first answer, no second event' },
  { name: 'ProjectionStore.apply: before COMMIT', load: 'mixed', upTo: 20, proves: 'batch projected again, counted once' },
  { name: 'ProjectionStore.apply: after COMMIT', load: 'mixed', upTo: 20, proves: 'batch not projected again' },
  { name: 'runSaga: recalibrated, Checkpoints.save not', load: 'evidence', upTo: 2, proves: 'one signal, not two' },
  { name: 'runSaga: overdue lease closed', load: 'leases', upTo: 2, proves: 'closed once' },
  { name: 'PostgresSnapshots.save: before', load: 'long', upTo: 1, proves: 'folds to the same without it' },
  { name: 'PostgresSnapshots.save: stored', load: 'long', upTo: 1, proves: 'folds to the same from it' },
];

export const POINTS = [...STARTING, ...UNDER_LOAD];
