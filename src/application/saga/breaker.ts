import { uuidOf } from '../../domain/ids.js';
import { noticeVerdict } from '../../domain/infra-breaker.js';
import type { InfraCommands, Infrastructure } from '../infrastructure.js';
import type { Policies } from '../policies.js';
import { type Reaction, SAGA_CALL } from './reaction.js';

/** Opens and closes the breakers of repos, by what the verdicts on their files say. */
export function breaker(infrastructure: Infrastructure, commands: InfraCommands, policies: Policies): Reaction {
  return async ({ event, id }) => {
    // An import tells of the past: it says nothing of what holds now.
    if (event.type !== 'VerdictReached' || event.data.imported) return;
    const { data } = event;
    // What was not blocked has something to say only where a breaker is open.
    if (data.verdict !== 'blocked' && (await infrastructure.current(data.repo)).state.open === null) return;
    const { policy } = (await policies.current(data.repo)).state;
    await commands.handle(data.repo, SAGA_CALL, (state) => noticeVerdict(state, data, policy), uuidOf('breaker', id));
  };
}
