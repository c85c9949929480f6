import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Service } from '../support/service.js';
import { repository, run } from './run.js';

const readme = readFileSync(`${repository}README.md`, 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);
const session = blocks('sh').find((block) => block.includes('curl'))!;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
}, 60_000);
afterAll(() => service.stop());

/** The image of a bare Node has no curl. */
const withCurl = spawnSync('curl', ['--version']).status === 0 ? test : test.skip;

withCurl('the curl session runs as it stands, twice, prints what the README says, and ends in a calibration signal', async () => {
  const here = session.replaceAll('http://127.0.0.1:7302', service.url);
  expect(here).not.toBe(session);
  const printed = blocks('text').find((block) => block.includes('CALIBRATION SIGNAL'));
  expect(await run('sh', ['-c', here])).toEqual({ status: 0, stderr: '', stdout: printed });
  const [retry, replan, escalate, hint] = printed!.split('\n');
  expect([retry, replan, escalate]).toEqual([
    expect.stringMatching(/^retry: /),
    expect.stringMatching(/^replan: /),
    expect.stringMatching(/^escalate: e0382_\w+ in 3 attempts \(threshold 3\)$/),
  ]);
  expect(hint).toMatch(/CALIBRATION SIGNAL — beyond weak-model capacity: E0382 in 3 attempts\.$/);
  // The repo's name has the second in it.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await run('sh', ['-c', here])).toEqual({ status: 0, stderr: '', stdout: printed });
});

test('the table of endpoints names every one that there is, and no other', async () => {
  const { paths } = (await (await fetch(`${service.url}/docs-json`)).json()) as { paths: Record<string, object> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const rows = section('## Endpoints').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`((?:GET|POST|PUT|DELETE) [^`]+)`/g)].map(([, call]) => call));
  expect(named.sort()).toEqual(served.sort());
});

test('the table of variables is what config.ts reads', () => {
  const read = [...readFileSync(`${repository}src/config.ts`, 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
  const named = section('## Configuration').flatMap((line) => /^\| `([A-Z_]+)` \|/.exec(line)?.[1] ?? []);
  expect(named.sort()).toEqual(read.sort());
});

test('every script, file and folder that is named exists', () => {
  const { scripts } = JSON.parse(readFileSync(`${repository}package.json`, 'utf8')) as { scripts: Record<string, string> };
  const named = [...readme.matchAll(/npm (?:run )?(\w+(?::\w+)*)/g)].map(([, name]) => name!).filter((name) => name !== 'ci');
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!);
  const folders = blocks('text')
    .find((block) => block.startsWith('src/'))!
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]!);
  expect([...links, ...folders].filter((path) => !existsSync(repository + path))).toEqual([]);
});

/** The lines from a heading to the next one of its level. */
function section(heading: string): string[] {
  const [, after] = readme.split(`\n${heading}\n`);
  return after!.split('\n## ')[0]!.split('\n');
}
