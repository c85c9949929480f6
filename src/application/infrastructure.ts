import type { InfraEvent } from '../catalogue/events.js';
import { infraStream } from '../domain/ids.js';
import { evolveInfra, type InfraState, noInfraTrouble } from '../domain/infra-breaker.js';
import type { Context } from '../domain/recorder.js';
import type { Imports } from './imports.js';
import type { Clock, EventLog, Ids } from './ports.js';
import { RepoCommands } from './repo-commands.js';
import { type RepoStream, RepoStreams } from './repo-streams.js';

export const INFRA_STREAM: RepoStream<InfraEvent, InfraState> = { streamOf: infraStream, initial: noInfraTrouble, evolve: evolveInfra };

/** Whether infrastructure holds up the files of a repo. */
export class Infrastructure extends RepoStreams<InfraEvent, InfraState> {
  constructor(log: EventLog) {
    super(log, INFRA_STREAM);
  }

  /** The part of an opening's context that it gives, at its head. */
  async beside(repo: string): Promise<Pick<Context, 'infra' | 'infraBasis'>> {
    const { state: infra } = await this.current(repo);
    return infra.revision < 0 ? {} : { infra, infraBasis: { stream: infraStream(repo), revision: infra.revision } };
  }
}

export class InfraCommands extends RepoCommands<InfraEvent, InfraState> {
  constructor(log: EventLog, clock: Clock, ids: Ids, imports: Imports) {
    super(log, INFRA_STREAM, clock, ids, imports);
  }
}
