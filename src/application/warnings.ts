import type { Warning } from '../catalogue/answers.js';
import type { FileEvent } from '../catalogue/events.js';
import type { FileState } from '../domain/state.js';

/** What a command's answer should say besides, from the state right after its events. */
export function warningsOf(after: FileState, events: FileEvent[]): Warning[] {
  return events.flatMap(({ type, data }) => {
    if (type === 'VerdictReached') return data.trial !== null && after.trials.get(data.trial) === 'both' ? [FLAKY_HERE] : [];
    if (type === 'DispatchOpened') return flakyFile(after);
    return [];
  });
}

const FLAKY_HERE: Warning = {
  code: 'flaky_verifier',
  detail: 'this very output was judged pass once and fail once for this task: its failures count for no signal',
};

/** Of a file some of whose newest outputs were judged both ways. */
export function flakyFile({ trials }: FileState): Warning[] {
  const outputs = [...trials.values()].filter((tried) => tried === 'both').length;
  if (outputs === 0) return [];
  const detail = `the verifier judged ${outputs === 1 ? 'an output' : `${outputs} outputs`} of this file pass once and fail once: such failures count for no signal`;
  return [{ code: 'flaky_verifier', detail, outputs }];
}

/** As a part of an answer: absent where there is nothing to warn of. */
export function warned(warnings: Warning[]): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings };
}
