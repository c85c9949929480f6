import { blocked, fail, hashOf, only, pass } from './builders.js';
import { decided, FileHistory } from './history.js';

/** A task that the frontier failed once. */
function failedByFrontier(asked: Parameters<FileHistory['open']>[0] = {}): FileHistory {
  const file = new FileHistory();
  file.frontier(file.open({ task: 't', ...asked }), fail('E0308'));
  return file;
}
const other = { descriptionHash: hashOf('something smaller') };

describe('a task that this frontier failed is decomposed, not tried again', () => {
  it('by whatever builder asks', () => {
    expect(decided(failedByFrontier().open({ task: 't', builder: 'builder-14b' }))).toBe('decompose task_hardness');
  });

  it('unless another frontier is named: that one has not failed it', () => {
    expect(decided(failedByFrontier().open({ task: 't', frontier: 'claude-next' }))).toBe('attempt history');
  });

  it('unless there is no frontier', () => {
    expect(decided(failedByFrontier().open({ task: 't', frontier: null }))).toBe('attempt history');
  });

  it('unless it is another task', () => {
    expect(decided(failedByFrontier().open({ task: 't2' }))).toBe('attempt history');
  });

  it('unless the description has changed: it is asked for something else now', () => {
    expect(decided(failedByFrontier().open({ task: 't', ...other }))).toBe('attempt history');
  });

  it('also after the frontier failed another description of the same task in between', () => {
    const file = failedByFrontier();
    file.frontier(file.open({ task: 't', ...other }), fail('E0308'));
    expect(decided(file.open({ task: 't', ...other }))).toBe('decompose task_hardness');
    expect(decided(file.open({ task: 't' }))).toBe('decompose task_hardness');
  });

  it('also where neither request had a description', () => {
    const bare = { description: null, descriptionHash: null };
    expect(decided(failedByFrontier(bare).open({ task: 't', ...bare }))).toBe('decompose task_hardness');
    expect(decided(failedByFrontier(bare).open({ task: 't' }))).toBe('attempt history');
  });

  it('also of two frontiers that both failed it, for each', () => {
    const file = failedByFrontier();
    file.frontier(file.open({ task: 't', frontier: 'claude-next' }), fail('E0308'), 'claude-next');
    for (const frontier of ['grok-4.20', 'claude-next'])
      expect(decided(file.open({ task: 't', frontier }))).toBe('decompose task_hardness');
  });

  it('named is the frontier that really failed, not the one that the dispatch had asked for', () => {
    const file = new FileHistory();
    file.frontier(file.open({ task: 't', frontier: 'grok-4.20' }), fail('E0308'), 'claude-next');
    expect(decided(file.open({ task: 't', frontier: 'claude-next' }))).toBe('decompose task_hardness');
    expect(decided(file.open({ task: 't', frontier: 'grok-4.20' }))).toBe('attempt history');
  });
});

describe('… and nothing passed it since', () => {
  const later = (outcome: ReturnType<typeof pass>, seat: 'attempt' | 'frontier', asked: Parameters<FileHistory['open']>[0] = {}) => {
    const file = failedByFrontier();
    const turn = file[seat](file.open({ task: 't', force: true, ...asked }), outcome);
    if (outcome.verdict === 'pass') file.accept(turn.proposalId);
    return decided(file.open({ task: 't' }));
  };

  it('a pass of any builder or frontier lifts it', () => {
    expect(later(pass(), 'attempt')).toBe('attempt history');
    expect(later(pass(), 'attempt', { builder: 'builder-14b' })).toBe('attempt history');
    expect(later(pass(), 'frontier')).toBe('attempt history');
  });

  it('failing or being blocked again does not', () => {
    expect(later(blocked('dns'), 'attempt')).toBe('decompose task_hardness');
    expect(later(blocked('dns'), 'frontier')).toBe('decompose task_hardness');
    expect(later(fail('E0599'), 'attempt', { budget: 1 })).toBe('decompose task_hardness');
  });

  it('a pass of another task does not', () => {
    expect(later(pass(), 'attempt', { task: 'u' })).toBe('decompose task_hardness');
  });

  it('a pass before the failure does not', () => {
    const file = new FileHistory();
    file.accept(file.attempt(file.open({ task: 't' }), pass()).proposalId);
    file.frontier(file.open({ task: 't' }), fail('E0308'));
    expect(decided(file.open({ task: 't' }))).toBe('decompose task_hardness');
  });

  it('a frontier that was only blocked has not failed', () => {
    const file = new FileHistory();
    file.frontier(file.open({ task: 't' }), blocked('dns'));
    expect(decided(file.open({ task: 't' }))).toBe('attempt cold_start');
  });
});

it('the flag for decomposition names task, description and frontier', () => {
  const file = new FileHistory();
  const { events } = file.frontier(file.open({ task: 't' }), fail('E0308'));
  expect(only(events, 'TaskFlaggedForDecomposition')).toMatchObject({
    taskId: 't',
    descriptionHash: hashOf('do t'),
    frontier: 'grok-4.20',
  });
});
