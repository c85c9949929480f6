import fc from 'fast-check';
import { labelLine, pairLine, splitOf } from '../../src/domain/training.js';

const pair = { prompt: 'p', chosen: 'good', rejected: 'bad' };
const user = { role: 'user', content: 'p' };
const assistant = (content: string) => ({ role: 'assistant', content });

test.each([
  ['trl', { prompt: 'p', chosen: 'good', rejected: 'bad' }],
  ['trl-conversational', { prompt: [user], chosen: [assistant('good')], rejected: [assistant('bad')] }],
  ['openrlhf', { chosen: [user, assistant('good')], rejected: [user, assistant('bad')] }],
  ['axolotl', { messages: [user], chosen: assistant('good'), rejected: assistant('bad') }],
] as const)('a pair for %s', (format, line) => {
  expect(pairLine(pair, format)).toEqual(line);
});

test.each([
  ['trl', { prompt: 'p', completion: 'c', label: true }],
  ['trl-conversational', { prompt: [user], completion: [assistant('c')], label: true }],
  ['openrlhf', { prompt: 'p', response: 'c', label: true }],
] as const)('an attempt with its label for %s', (format, line) => {
  expect(labelLine({ prompt: 'p', completion: 'c', passed: true }, format)).toEqual(line);
});

test('a task without any text has the empty prompt', () => {
  expect(pairLine({ ...pair, prompt: null }, 'trl')).toEqual({ ...pair, prompt: '' });
});

describe('the split', () => {
  it('has a file on one side, in about the share that was asked for', () => {
    const sides = Array.from({ length: 4_000 }, (_, n) => splitOf({ repo: 'r', targetFile: `src/${n}.rs` }, 0.2));
    const share = sides.filter((side) => side === 'validation').length / sides.length;
    expect(Math.abs(share - 0.2)).toBeLessThan(5 * Math.sqrt((0.2 * 0.8) / sides.length));
  });

  it('only grows: what is validation stays so under a larger share', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (targetFile, a, b) => {
          const file = { repo: 'r', targetFile };
          if (splitOf(file, Math.min(a, b)) === 'validation') expect(splitOf(file, Math.max(a, b))).toBe('validation');
          expect([splitOf(file, 0), splitOf(file, 1)]).toEqual(['train', 'validation']);
        },
      ),
    );
  });
});
