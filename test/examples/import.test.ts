import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '../support/api.js';
import { makeFolder } from '../support/folder.js';
import { Service } from '../support/service.js';
import { run } from './run.js';

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await Service.start();
  folder = await makeFolder('anvil-test-import');
}, 60_000);
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const importing = (log: string, data: string, repo: string, ...more: string[]) =>
  run(process.execPath, [`tools/import/${log}.mjs`, '--data', data, '--base', service.url, '--repo', repo, ...more]);
const list = async (path: string, query: Json): Promise<Json[]> =>
  (await service.api.ok(service.api.get(path, { limit: 1000, ...query }))).items;
const eventsOf = async (repo: string) => {
  const files = await list('/v1/files', { repo });
  return Promise.all(files.map(({ targetFile }) => service.api.file(repo, targetFile).events()));
};
async function put(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(folder, 'log-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}
const lines = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('compile attempts', () => {
  const error = (error_code: string | null, error_message: string, row = '3') => ({
    ...{ error_code, error_message, file_path: 'abacus/src/lib.rs', row, col: '9' },
    error_snippet: `|\n${row} |     beads(2);\n  |     ^^^^^`,
  });
  const mismatch = error('E0308', 'mismatched types');
  const attempt = (_run: string, project: string, iteration: number, errors: object[] | null) => ({
    ...{ _run, project, iteration, response: `answer ${iteration} of ${_run} for ${project}`, errors },
  });
  const builder = [
    // Not in the order of the attempts: the log is no promise.
    ...[2, 0, 1].map((iteration) => attempt('small', 'abacus', iteration, [mismatch, error(null, `unexpected \`}\` ${iteration}`)])),
    attempt('small', 'bell', 0, [error(': cannot construct `a:', 'B` with struct literal syntax')]),
    attempt('small', 'bell', 1, null),
    attempt('small', 'clock', 0, null),
  ];
  const frontier = [attempt('large', 'abacus', 0, [mismatch]), attempt('large', 'abacus', 1, null)];
  const options = ['--builder', 'small', '--frontier', 'large'];

  test('become dispatches with the compiler’s text, and the frontier is asked where the builder’s end in a signal', async () => {
    const data = await put({ 'small.attempts.jsonl': lines(builder), 'large.attempts.jsonl': lines(frontier) });
    const { status, stderr, stdout } = await importing('crust', data, 'crust-1', ...options);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^6 attempts of 3 tasks are in the repo crust-1 /);
    // The first try of `clock`, and `bell` with its second.
    expect(stdout).toMatch(/^all +3 +1 of 3: 33% \(6%–79%\) +2 of 3: 67% \(21%–94%\) +6 +1 +1 of 1 +-$/m);
    expect(stdout).toMatch(/^e0308_type_mismatch +small +3 +0 +1 +1 of 1$/m);
    expect(stdout).toMatch(/^1 signals on 1 files; 0 of them/m);

    const dispatches = await list('/v1/dispatches', { repo: 'crust-1' });
    expect(Object.fromEntries(dispatches.map((d) => [d.targetFile, [d.model, d.budget, d.outcome]]))).toEqual({
      'abacus/src/lib.rs': ['small', 3, 'escalated_passed'],
      'bell/src/lib.rs': ['small', 3, 'passed'],
      'clock/src/lib.rs': ['small', 3, 'passed'],
    });
    const [first] = (await list('/v1/captures', { repo: 'crust-1', targetFile: 'bell/src/lib.rs' })).filter((c) => c.attempt === 1);
    expect(first.output).toBe('answer 0 of small for bell');
    const { verifier } = await service.api.ok(service.api.get(`/v1/attempts/${first.attemptId}`));
    expect(verifier.stderr).toBe(
      'error: cannot construct `a::B` with struct literal syntax\n  --> abacus/src/lib.rs:3:9\n   |\n3 |     beads(2);\n  |     ^^^^^',
    );
    // Nobody showed these attempts a hint.
    expect((await eventsOf('crust-1')).flat().filter(({ type }) => type === 'HistoryInjected')).toEqual([]);
  });

  test('twice add nothing, one after the other or both at once', async () => {
    const data = await put({ 'small.attempts.jsonl': lines(builder), 'large.attempts.jsonl': lines(frontier) });
    const both = await Promise.all([1, 2].map(() => importing('crust', data, 'crust-2', ...options)));
    expect(both.map(({ status, stderr }) => [status, stderr])).toEqual(Array(2).fill([0, '']));
    const before = await eventsOf('crust-2');
    const again = await importing('crust', data, 'crust-2', ...options, '--concurrency', '1');
    expect(again.stdout).toMatch(/^all +3 +1 of 3: 33% .* 6 +1 +1 of 1 +-$/m);
    expect(await eventsOf('crust-2')).toEqual(before);
  });

  test('are read from the folders of the benchmark too, and come to the same', async () => {
    const upstream = ({ _run, project, iteration, response, errors }: ReturnType<typeof attempt>) => ({
      [`${_run}/${project}/metadata/output/${iteration === 0 ? 'initial' : `res_${iteration - 1}`}.txt`]: response,
      ...(errors && { [`${_run}/${project}/metadata/errors_${iteration}.json`]: JSON.stringify(errors) }),
    });
    const data = await put({ ...Object.assign({}, ...[...builder, ...frontier].map(upstream)), 'small/Cargo.toml': '[workspace]' });
    const { stdout } = await importing('crust', data, 'crust-3', ...options);
    expect(stdout).toMatch(/^all +3 +1 of 3: 33% \(6%–79%\) +2 of 3: 67% \(21%–94%\) +6 +1 +1 of 1 +-$/m);
    expect(stdout).toMatch(/^e0308_type_mismatch +small +3 +0 +1 +1 of 1$/m);
  });

  test('of one file have no frontier, and what ends in an escalation is given up', async () => {
    const data = await put({ 'attempts.jsonl': lines(builder) });
    const { status } = await importing('crust', join(data, 'attempts.jsonl'), 'crust-4');
    expect(status).toBe(0);
    const [abacus] = await list('/v1/dispatches', { repo: 'crust-4', targetFile: 'abacus/src/lib.rs' });
    expect([abacus.model, abacus.attempts, abacus.outcome]).toEqual(['small', 3, 'abandoned']);
  });

  test('that are not there, or not JSON, are named; and nothing is asked of a service that is away', async () => {
    const data = await put({ 'attempts.jsonl': `${lines(builder)}{"project":\n` });
    expect((await importing('crust', join(data, 'attempts.jsonl'), 'crust-5')).stderr).toMatch(/attempts\.jsonl, line 7, is not JSON/);
    expect((await importing('crust', data, 'crust-5', '--builder', 'none')).stderr).toMatch(
      /has neither none\.attempts\.jsonl nor a folder/,
    );
    expect(await list('/v1/dispatches', { repo: 'crust-5' })).toEqual([]);
    const away = await run(process.execPath, ['tools/import/crust.mjs', '--data', data, '--base', 'http://127.0.0.1:9']);
    expect([away.status, away.stderr]).toEqual([1, expect.stringMatching(/^No Anvil answers at http:\/\/127\.0\.0\.1:9/)]);
  });
});

describe('attempts of two models that take turns', () => {
  const right = { edit_outcome: true, lint_outcome: true, test_outcome: true, model_patch: 'diff --git a/src/k.py b/src/k.py\n+right\n' };
  const wrong = { ...right, test_outcome: false, model_patch: 'diff --git a/src/k.py b/src/k.py\n+wrong\n' };
  const chat = { chat_tail: 'FAILED tests/test_k.py::test_bolt\n' };
  const attempt = (instance_id: string, tried: number, more: object) => ({
    ...{ instance_id, try: tried, model: 'm', cost: 0.25, added_files: ['src/k.py'], edited_files: [], gold_files: ['src/gold.py'] },
    ...{ _chosen: false, resolved_of_chosen: false },
    ...more,
  });
  const log = [
    // Solved, and solved once more: the loop went on.
    ...[attempt('nuts__nuts-1', 1, { ...right, _chosen: true, resolved_of_chosen: true }), attempt('nuts__nuts-1', 2, right)],
    // Plausible in the loop, and yet not what was asked for.
    ...[attempt('nuts__nuts-2', 1, { ...wrong, ...chat }), attempt('nuts__nuts-2', 2, { ...right, _chosen: true })],
    attempt('pins__pins-3', 1, { edit_outcome: false, lint_outcome: null, test_outcome: null, model_patch: '', added_files: [] }),
  ];

  test('become dispatches of the pair, on the file that was in the chat, with the gate that failed as the pattern', async () => {
    const data = await put({ 'attempts.jsonl': lines(log) });
    const { status, stderr, stdout } = await importing('aider', data, 'aider-1');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^4 attempts of 3 tasks are in the repo aider-1 .* 1 more were made after a pass and are left out\./);
    expect(stdout).toMatch(/^all +3 +1 of 3: 33% \(6%–79%\) +2 of 3: 67% \(21%–94%\) +4 +0 +- +\$1\.00$/m);
    expect(stdout).toMatch(/^cold files +2 .*\nfiles with history +1 .*\nCold and history are not comparable/m);
    expect(stdout).toMatch(/^aider_test_failures +gpt-4o\+claude-3-opus +1 +1 +0 +-$/m);
    const files = await list('/v1/files', { repo: 'aider-1' });
    expect(files.map(({ targetFile }) => targetFile).sort()).toEqual(['nuts__nuts/src/k.py', 'pins__pins/src/gold.py']);
    const failed = (await list('/v1/captures', { repo: 'aider-1', verdict: 'fail' })).find(({ taskId }) => taskId === 'nuts__nuts-2');
    const whole = await service.api.ok(service.api.get(`/v1/attempts/${failed.attemptId}`));
    expect([whole.diff, whole.verifier.output, whole.usage]).toEqual([wrong.model_patch, chat.chat_tail, { costUsd: 0.25 }]);
  });

  test('twice add nothing; with --acceptance what the hidden tests said, once', async () => {
    const data = await put({ 'attempts.jsonl': lines(log) });
    await importing('aider', data, 'aider-2');
    const before = await eventsOf('aider-2');
    await importing('aider', data, 'aider-2');
    expect(await eventsOf('aider-2')).toEqual(before);
    for (const _ of [1, 2]) {
      const { stdout } = await importing('aider', data, 'aider-2', '--acceptance');
      expect(stdout).toMatch(/^4 attempts .* 1 verdicts were corrected\.$/m);
      expect(stdout).toMatch(/^all +3 +1 of 3: 33% \(6%–79%\) +1 of 3: 33% \(6%–79%\)/m);
    }
    const corrected = (await eventsOf('aider-2')).flat().filter(({ type }) => type === 'VerdictCorrected');
    expect(corrected.map(({ data: { verdict, source } }) => [verdict, source])).toEqual([['fail', 'swe-bench']]);
  });

  test('are read from the files of the harness too, with the submitted one among them', async () => {
    const entries = (instance: string) => log.filter((row) => row.instance_id === instance);
    const bare = ({ instance_id: _id, _chosen, resolved_of_chosen: _resolved, ...row }: ReturnType<typeof attempt>) => row;
    const ofInstance = (instance: string) => {
      const all = entries(instance) as (ReturnType<typeof attempt> & { resolved_of_chosen: boolean })[];
      const chosen = all.find(({ _chosen }) => _chosen) ?? all[0]!;
      return JSON.stringify({ ...bare(chosen), instance_id: instance, resolved: chosen.resolved_of_chosen, all_results: all.map(bare) });
    };
    const names = ['nuts__nuts-1', 'nuts__nuts-2', 'pins__pins-3'];
    const data = await put(Object.fromEntries(names.map((name) => [`${name}.json`, ofInstance(name)])));
    const { stdout, stderr } = await importing('aider', data, 'aider-3', '--acceptance');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^all +3 +1 of 3: 33% \(6%–79%\) +1 of 3: 33% \(6%–79%\)/m);
  });
});
