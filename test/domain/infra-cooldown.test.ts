import { blocked, fail, pass } from './builders.js';
import { decided, FileHistory } from './history.js';

/** Two blocked attempts in a row, the newest now. */
function blockedTwice(first: string | null, second = first): FileHistory {
  const file = new FileHistory();
  for (const kind of [first, second]) file.attempt(file.open({ force: true }), blocked(kind));
  return file;
}

describe('the cooldown after the same infrastructure failure twice in a row', () => {
  it.each([
    ['dns', 900],
    ['connect', 900],
    ['tls', 900],
    ['net_timeout', 900],
    ['registry', 900],
    ['rate_limit', 60],
    ['lock', 30],
    ['memory', 60],
    ['killed', 60],
    ['auth', 3600],
    ['disk', 3600],
    ['toolchain', 3600],
    ['permission', 3600],
    ['offline', 3600],
    ['moon_phase', 900],
    ['constructor', 900],
  ])('%s: %i seconds, from the newest attempt on, and not one longer', (kind, seconds) => {
    const file = blockedTwice(kind);
    const asked = file.wait(1).open();
    expect(decided(asked)).toBe('stop infra_cooldown');
    expect(asked.next.retryAfterSeconds).toBe(seconds - 1);
    expect(decided(file.wait(seconds - 2).open())).toBe('stop infra_cooldown');
    expect(decided(file.wait(1).open())).toBe('attempt cold_start');
  });

  it('rounds what is left up: who waits that long is let in', () => {
    const file = blockedTwice('lock');
    expect(file.wait(29.5).open().next.retryAfterSeconds).toBe(1);
  });

  it('needs two', () => {
    const file = new FileHistory();
    file.attempt(file.open(), blocked('dns'));
    expect(decided(file.open())).toBe('attempt cold_start');
  });

  it('needs the same kind: dns then disk is no blind retry', () => {
    expect(decided(blockedTwice('dns', 'disk').open())).toBe('attempt cold_start');
  });

  it('counts from the last change of kind', () => {
    const file = blockedTwice('dns', 'disk');
    file.attempt(file.open(), blocked('disk'));
    expect(file.open().next).toMatchObject({ rule: 'infra_cooldown', occurrences: 2 });
  });

  it('is over as soon as an attempt passes or fails, of whatever task and seat', () => {
    for (const outcome of [pass(), fail('E0308')])
      for (const seat of ['attempt', 'frontier'] as const) {
        const file = new FileHistory();
        const running = file.open({ task: 'other' });
        for (const _ of [1, 2]) file.attempt(file.open({ task: 't' }), blocked('dns'));
        expect(decided(file.open({ task: 't' }))).toBe('stop infra_cooldown');
        file[seat](running, outcome);
        expect(decided(file.open({ task: 't' }))).toBe('attempt history');
      }
  });

  it('is the file’s, not the task’s: blocked attempts of two tasks add up', () => {
    const file = new FileHistory();
    for (const task of ['a', 'b']) file.attempt(file.open({ task }), blocked('dns'));
    expect(decided(file.open({ task: 'c' }))).toBe('stop infra_cooldown');
  });

  it('starts again with a third blocked attempt that was forced', () => {
    const file = blockedTwice('rate_limit');
    file.wait(50).attempt(file.open({ force: true }), blocked('rate_limit'));
    expect(file.wait(50).open().next).toMatchObject({ rule: 'infra_cooldown', occurrences: 3, retryAfterSeconds: 10 });
  });

  it('a frontier that is blocked counts as an attempt on the file', () => {
    const file = new FileHistory();
    for (const _ of [1, 2]) file.frontier(file.open(), blocked('dns'));
    expect(decided(file.open())).toBe('stop infra_cooldown');
  });
});
