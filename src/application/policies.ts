import type { PolicyEvent } from '../catalogue/events.js';
import { policyStream } from '../domain/ids.js';
import { evolvePolicy, noPolicyYet, type PolicyState } from '../domain/policy-in-force.js';
import type { EventLog } from './ports.js';
import { type RepoStream, RepoStreams } from './repo-streams.js';

export const POLICY_STREAM: RepoStream<PolicyEvent, PolicyState> = { streamOf: policyStream, initial: noPolicyYet, evolve: evolvePolicy };

/** What repos decide under. */
export class Policies extends RepoStreams<PolicyEvent, PolicyState> {
  constructor(log: EventLog) {
    super(log, POLICY_STREAM);
  }
}
