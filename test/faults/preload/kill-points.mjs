import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pass, wrap } from './pass.mjs';
import './start-points.mjs';

// Loaded before the service (`node --import`): wraps what the kill points name. The modules are the very ones that main.js will import.
const built = dirname(process.argv[1]);
const load = (path) => import(pathToFileURL(join(built, path)));
const { EventStoreDbLog } = await load('adapters/eventstoredb/event-log.js');
const { ProjectionStore } = await load('adapters/postgres/projection-store.js');
const { PostgresReadModels } = await load('adapters/postgres/read-models.js');
const { PostgresSnapshots } = await load('adapters/postgres/snapshots.js');
const { CommandHandling } = await load('application/handle-command.js');
const { Payloads } = await load('application/payloads.js');
const { LogStatements } = await load('embedded/node/log-statements.js');
const pg = createRequire(process.argv[1])('pg');

wrap(
  EventStoreDbLog.prototype,
  'append',
  (append) =>
    async function (stream, revision, events) {
      const { index, chunks } = events[0].type === 'PayloadStored' ? events[0].data : {};
      if (index === undefined) pass('EventStoreDbLog.append(command): before', stream);
      if (index === 0) pass('EventStoreDbLog.append(payload): before first chunk', stream);
      const appended = await append.call(this, stream, revision, events);
      if (index === undefined) pass('EventStoreDbLog.append(command): durable, unanswered', stream);
      if (index === 0 && chunks > 1) pass('EventStoreDbLog.append(payload): first of several durable', stream);
      if (index > 0 && index < chunks - 1) pass('EventStoreDbLog.append(payload): middle chunk durable', stream);
      return appended;
    },
);

wrap(
  Payloads.prototype,
  'collect',
  (collect) =>
    function () {
      const texts = collect.call(this);
      let kept = 0;
      const { keep } = texts;
      return {
        ...texts,
        keep: (text) => {
          kept += 1;
          return keep(text);
        },
        write: async () => {
          await texts.write();
          if (kept > 0) pass('Texts.write: texts durable, command not');
        },
      };
    },
);

// What the saga did since its checkpoint was last saved.
let sagaHadEffect = false;
wrap(
  CommandHandling.prototype,
  'handle',
  (handle) =>
    async function (command) {
      const handled = await handle.call(this, command);
      const types = handled.events.map(({ type }) => type);
      if (command.call.actor !== 'calibration-saga') pass('CommandHandling.handle: done, answer not sent', command.stream);
      else if (types.includes('DispatchClosed')) pass('runSaga: overdue lease closed', command.stream);
      else if (types.length > 0) sagaHadEffect = true;
      return handled;
    },
);
wrap(
  PostgresReadModels.prototype,
  'save',
  (save) =>
    async function (name, position) {
      if (sagaHadEffect) pass('runSaga: recalibrated, Checkpoints.save not', position);
      await save.call(this, name, position);
      sagaHadEffect = false;
    },
);

wrap(
  LogStatements.prototype,
  'insert',
  (insert) =>
    async function (...given) {
      const [, batch] = given;
      const inserting = insert.apply(this, given);
      // By the next turn of the loop the statement has left this process, and no answer has been read.
      setImmediate(() => pass('LogStatements.insert: sent, not confirmed', batch.events.length));
      const inserted = await inserting;
      pass('LogStatements.insert: committed, unanswered', batch.events.length);
      return inserted;
    },
);

wrap(
  PostgresSnapshots.prototype,
  'save',
  (save) =>
    async function (...given) {
      pass('PostgresSnapshots.save: before', given[0]);
      await save.apply(this, given);
      pass('PostgresSnapshots.save: stored', given[0]);
    },
);

// One statement ends every transaction: whose it is follows from the call that it is made in.
const within = new AsyncLocalStorage();
wrap(
  ProjectionStore.prototype,
  'apply',
  (apply) =>
    function (events) {
      return within.run('ProjectionStore.apply', () => apply.call(this, events));
    },
);
wrap(
  pg.Client.prototype,
  'query',
  (query) =>
    function (...given) {
      const [text] = given;
      const commits = text === 'COMMIT' && within.getStore() === 'ProjectionStore.apply';
      if (commits) pass('ProjectionStore.apply: before COMMIT');
      if (text === 'COMMIT' && this.connectionParameters.application_name === 'anvil event log writer')
        pass('prepareSchema: before COMMIT');
      if (typeof text === 'string' && text.startsWith('CREATE DATABASE')) pass('createDatabase: before CREATE DATABASE');
      const answer = query.apply(this, given);
      if (!commits) return answer;
      return answer.then((result) => {
        pass('ProjectionStore.apply: after COMMIT');
        return result;
      });
    },
);
