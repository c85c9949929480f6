import { isDeepStrictEqual } from 'node:util';

/**
 * The suite's own account of what was asked and what was answered, kept outside of the service. A call is *acknowledged* (2xx), *refused*
 * (4xx), or *unknown*: given up before any answer came.
 */
export class Ledger {
  calls = [];
  /** Imported evidence that was acknowledged: where, and the id of its command. */
  evidence = [];
  files = new Map();
  /** Which kill is being waited for: it is the one that cuts off what is asked now. */
  round = null;
  /** What should not have been answered. */
  wrong = [];
  repeats = 0;

  /** Everything that a call says is known before it is made. */
  begin(call) {
    const entry = { answer: null, state: 'unknown', asked: 0, unanswered: 0, cutOff: [], ...call };
    this.calls.push(entry);
    this.files.set(`${call.file.repo}\0${call.file.targetFile}`, call.file);
    return entry;
  }

  answered(entry, answer) {
    const refused = answer.status >= 400;
    if (entry.answer === null) {
      Object.assign(entry, { answer, state: refused ? 'refused' : 'acknowledged' });
      if (refused && !entry.mayBeRefused) this.wrong.push(`${entry.what} was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (entry.mustBeRefused !== undefined && answer.status !== entry.mustBeRefused)
        this.wrong.push(`${entry.what} should be refused with ${entry.mustBeRefused}, not ${answer.status}`);
      return;
    }
    this.repeats += 1;
    if (!isDeepStrictEqual(entry.answer, answer))
      this.wrong.push(
        `${entry.what}, repeated under its key, was answered ${JSON.stringify(answer)} after ${JSON.stringify(entry.answer)}`,
      );
  }

  unexpected(entry, { status, body }) {
    this.wrong.push(`${entry.what} was answered ${status} ${JSON.stringify(body)}`);
  }

  of(state) {
    return this.calls.filter((call) => call.state === state);
  }
}
