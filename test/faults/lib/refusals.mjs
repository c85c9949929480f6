import { randomUUID } from 'node:crypto';
import { text } from './texts.mjs';

/** Calls that must be refused, each with a text of its own that nothing may be left of. */
export function* refusedCalls({ random, ledger, files }) {
  const file = random.pick(files.some);
  const body = () => ({ output: text(random, `to be refused ${randomUUID()}`, 2_600), verdict: 'pass' });
  const refused = (mustBeRefused, what, call) => ({ what, kind: 'refused', file, mayBeRefused: true, mustBeRefused, ...call });

  const abandoned = ledger.calls.findLast(({ kind, state }) => kind === 'abandon' && state === 'acknowledged');
  if (abandoned)
    yield refused(409, 'an attempt after abandoning', {
      path: abandoned.path.replace('abandon', 'attempts'),
      body: body(),
      file: abandoned.file,
    });
  const attempt = ledger.calls.findLast(({ kind, state }) => kind === 'attempts' && state === 'acknowledged');
  if (attempt) {
    yield refused(422, 'a key with another body', { path: attempt.path, key: attempt.key, body: body(), file: attempt.file });
    yield refused(409, 'an attempt with a wrong number', { path: attempt.path, body: { attempt: 99, ...body() }, file: attempt.file });
  }
  yield refused(404, 'an attempt on nothing', { path: '/v1/dispatches/d-00000000000000000000-nothing/attempts', body: body() });
  yield refused(400, 'a call without a verdict', { path: attempt?.path ?? '/v1/dispatches', body: { ...body(), verdict: undefined } });
}
