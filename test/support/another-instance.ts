import { randomUUID } from 'node:crypto';
import { FileHistories } from '../../src/application/file-histories.js';
import { CommandHandling } from '../../src/application/handle-command.js';
import { Imports } from '../../src/application/imports.js';
import { Metrics } from '../../src/application/metrics.js';
import { Policies } from '../../src/application/policies.js';
import type { EventLog } from '../../src/application/ports.js';

/** Another instance over the same log, as far as files go: it knows of what the first one appends only by reading, and its clock is ahead. */
export function anotherInstance(log: EventLog): { handling: CommandHandling; histories: FileHistories } {
  const snapshots = { load: async () => null, save: async () => undefined, remove: async () => undefined };
  const metrics = new Metrics();
  const histories = new FileHistories(log, snapshots, metrics, () => undefined);
  const clock = { now: () => new Date(Date.now() + 5).toISOString() };
  const ids = { uuid: randomUUID, short: () => 'x'.repeat(16) };
  return { histories, handling: new CommandHandling(log, histories, new Policies(log), clock, ids, metrics, new Imports(log, clock)) };
}
