import type { PolicyEvent } from '../catalogue/events.js';
import type { PolicyState } from '../domain/policy-in-force.js';
import type { Imports } from './imports.js';
import { POLICY_STREAM } from './policies.js';
import type { Clock, EventLog, Ids } from './ports.js';
import { RepoCommands } from './repo-commands.js';

/** Changes of what repos decide under. */
export class PolicyCommands extends RepoCommands<PolicyEvent, PolicyState> {
  constructor(log: EventLog, clock: Clock, ids: Ids, imports: Imports) {
    super(log, POLICY_STREAM, clock, ids, imports);
  }
}
