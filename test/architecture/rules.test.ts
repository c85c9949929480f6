import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const options = await extractOptions(join(ROOT, '.dependency-cruiser.cjs'));

async function cruiseTree(baseDir: string): Promise<ICruiseResult> {
  const { output } = await cruise(['src', 'projections'], { ...options, baseDir });
  return output as ICruiseResult;
}

const sources = ['src', 'projections'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path)),
);

describe('the real tree', () => {
  it('breaks no rule', async () => {
    const { summary, modules } = await cruiseTree(ROOT);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
    // Rules that see nothing hold of anything.
    expect(modules.map(({ source }) => source)).toEqual(expect.arrayContaining(sources));
    const ours = modules.flatMap(({ dependencies }) => dependencies).filter(({ resolved }) => sources.includes(resolved));
    expect(ours.length).toBeGreaterThan(50);
  });
});

const PACKAGES = ['zod', '@nestjs/common', '@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf', 'pg', 'pg-copy-streams'];
const DEV_PACKAGES = ['fast-check'];
const UNDECLARED_PACKAGES = ['left-behind'];

/** A made-up Anvil that walks every arrow that is allowed. */
const ALLOWED: Record<string, string> = {
  'package.json': JSON.stringify({
    type: 'module',
    dependencies: Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0'])),
    devDependencies: Object.fromEntries(DEV_PACKAGES.map((name) => [name, '1.0.0'])),
  }),
  ...Object.fromEntries(
    [...PACKAGES, ...DEV_PACKAGES, ...UNDECLARED_PACKAGES].flatMap((name) => [
      [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' })],
      [`node_modules/${name}/index.js`, 'module.exports = {};'],
    ]),
  ),
  'src/catalogue/names.ts': "import { z } from 'zod'; export const name = z.string();",
  'src/catalogue/events.ts': "import { name } from './names.js'; export type E = typeof name;",
  'src/domain/decide.ts':
    "import { createHash } from 'node:crypto'; import type { E } from '../catalogue/events.js'; export const d = createHash as E;",
  'src/verifier/verdict.ts':
    "import { createHash } from 'node:crypto'; import { name } from '../catalogue/names.js'; export const v = [createHash, name];",
  'projections/projection.ts': "import type { E } from '../src/catalogue/events.js'; export type P = E;",
  'projections/histogram.ts': "import type { P } from './projection.js'; export const h = 1 as P;",
  'src/application/ports.ts': "import type { E } from '../catalogue/events.js'; export interface Log { e: E }",
  'src/application/handle.ts': `
    import { Inject } from '@nestjs/common'; import { h } from '../../projections/histogram.js'; import { d } from '../domain/decide.js';
    import { v } from '../verifier/verdict.js'; import type { Log } from './ports.js'; export const a = [Inject, h, d, v] as Log;`,
  'src/adapters/eventstoredb/log.ts': `
    import { Client } from '@eventstore/db-client'; import { status } from '@grpc/grpc-js'; import type { Log } from '../../application/ports.js';
    import type { E } from '../../catalogue/events.js'; export const log = [Client, status] as Log as E;`,
  'src/adapters/postgres/rows.ts':
    "import copy from 'pg-copy-streams'; import pg from 'pg'; import type { Log } from '../../application/ports.js'; export const rows = [copy, pg] as Log;",
  'src/embedded/node.ts': `
    import { readFile } from 'node:fs/promises'; import streams from '@eventstore/db-client'; import { Server } from '@grpc/grpc-js';
    import any from 'google-protobuf'; import pg from 'pg'; export const node = [readFile, streams, Server, any, pg];`,
  'src/embedded/main.ts': "import { config } from '../config.js'; import { node } from './node.js'; console.log(config, node);",
  'src/config.ts': "import { z } from 'zod'; export const config = z;",
  'src/http/controller.ts':
    "import { a } from '../application/handle.js'; import { name } from '../catalogue/names.js'; export const c = [a, name];",
  'src/app.module.ts': `
    import { log } from './adapters/eventstoredb/log.js'; import { rows } from './adapters/postgres/rows.js'; import { c } from './http/controller.js';
    export const app = [log, rows, c];`,
  'src/main.ts':
    "import { app } from './app.module.js'; import { config } from './config.js'; import { node } from './embedded/node.js'; console.log(app, config, node);",
  'test/given.ts': 'export const given = 1;',
};

/** What is added to that tree, and the one rule it breaks. */
const BROKEN: [rule: string, files: Record<string, string>][] = [
  ['catalogue-imports-only-zod', { 'src/catalogue/x.ts': "import { d } from '../domain/decide.js'; export const x = d;" }],
  ['catalogue-imports-only-zod', { 'src/catalogue/x.ts': "import { createHash } from 'node:crypto'; export const x = createHash;" }],
  ['catalogue-imports-only-zod', { 'src/catalogue/x.ts': "import { Inject } from '@nestjs/common'; export const x = Inject;" }],
  ['domain-imports-only-the-catalogue', { 'src/domain/x.ts': "import type { Log } from '../application/ports.js'; export type X = Log;" }],
  ['domain-imports-only-the-catalogue', { 'src/domain/x.ts': "import { v } from '../verifier/verdict.js'; export const x = v;" }],
  ['domain-imports-only-the-catalogue', { 'src/domain/x.ts': "import { z } from 'zod'; export const x = z;" }],
  ['domain-imports-only-the-catalogue', { 'src/domain/x.ts': "export { readFile } from 'node:fs/promises';" }],
  ['verifier-imports-only-the-catalogue', { 'src/verifier/x.ts': "import { d } from '../domain/decide.js'; export const x = d;" }],
  ['verifier-imports-only-the-catalogue', { 'src/verifier/x.ts': "import { z } from 'zod'; export const x = z;" }],
  ['verifier-imports-only-the-catalogue', { 'src/verifier/x.ts': "export const x = () => import('node:fs');" }],
  ['projections-import-only-the-catalogue', { 'projections/x.ts': "import { d } from '../src/domain/decide.js'; export const x = d;" }],
  ['projections-import-only-the-catalogue', { 'projections/x.ts': "import { z } from 'zod'; export const x = z;" }],
  [
    'projections-import-only-the-catalogue',
    { 'projections/x.ts': "import { createHash } from 'node:crypto'; export const x = createHash;" },
  ],
  [
    'adapters-know-ports-and-catalogue',
    { 'src/adapters/postgres/x.ts': "import { a } from '../../application/handle.js'; export const x = a;" },
  ],
  [
    'adapters-know-ports-and-catalogue',
    { 'src/adapters/postgres/x.ts': "import { d } from '../../domain/decide.js'; export const x = d;" },
  ],
  [
    'adapters-know-ports-and-catalogue',
    { 'src/adapters/postgres/x.ts': "import { c } from '../../http/controller.js'; export const x = c;" },
  ],
  [
    'adapters-know-ports-and-catalogue',
    { 'src/adapters/postgres/x.ts': "import { node } from '../../embedded/node.js'; export const x = node;" },
  ],
  ['adapters-know-ports-and-catalogue', { 'src/adapters/x.ts': "import { h } from '../../projections/histogram.js'; export const x = h;" }],
  ['adapters-never-each-other', { 'src/adapters/postgres/x.ts': "import { log } from '../eventstoredb/log.js'; export const x = log;" }],
  [
    'adapters-never-each-other',
    { 'src/adapters/eventstoredb/x.ts': "import type { rows } from '../postgres/rows.js'; export type X = typeof rows;" },
  ],
  ['embedded-stands-alone', { 'src/embedded/x.ts': "import { name } from '../catalogue/names.js'; export const x = name;" }],
  ['embedded-stands-alone', { 'src/embedded/x.ts': "import { rows } from '../adapters/postgres/rows.js'; export const x = rows;" }],
  ['only-the-wiring-picks-stores', { 'src/x.ts': "import { rows } from './adapters/postgres/rows.js'; export const x = rows;" }],
  ['only-the-wiring-picks-stores', { 'src/clients/x.ts': "import { node } from '../embedded/node.js'; export const x = node;" }],
  ['nobody-imports-the-wiring', { 'src/http/x.ts': "import { app } from '../app.module.js'; export const x = app;" }],
  [
    'eventstore-client-has-one-home',
    { 'src/application/x.ts': "import { Client } from '@eventstore/db-client'; export const x = Client;" },
  ],
  [
    'eventstore-client-has-one-home',
    { 'src/adapters/postgres/x.ts': "import type { X } from '@eventstore/db-client'; export type Y = X;" },
  ],
  ['pg-has-one-home', { 'src/application/x.ts': "import pg from 'pg'; export const x = pg;" }],
  ['pg-has-one-home', { 'src/adapters/eventstoredb/x.ts': "import copy from 'pg-copy-streams'; export const x = copy;" }],
  ['grpc-has-one-home', { 'src/http/x.ts': "import { status } from '@grpc/grpc-js'; export const x = status;" }],
  ['grpc-has-one-home', { 'src/adapters/postgres/x.ts': "import any from 'google-protobuf'; export const x = any;" }],
  ['no-dev-dependency-in-the-product', { 'src/http/x.ts': "import fc from 'fast-check'; export const x = fc;" }],
  ['no-dev-dependency-in-the-product', { 'src/http/x.ts': "import left from 'left-behind'; export const x = left;" }],
  ['no-test-code-in-the-product', { 'src/http/x.ts': "import { given } from '../../test/given.js'; export const x = given;" }],
  ['no-unresolvable', { 'src/http/x.ts': "import { gone } from './gone.js'; export const x = gone;" }],
  ['no-unresolvable', { 'src/http/x.ts': "import gone from 'never-installed'; export const x = gone;" }],
  [
    'no-circular',
    {
      'src/http/x.ts': "import { y } from './y.js'; export const x = y;",
      'src/http/y.ts': "import { x } from './x.js'; export const y = x;",
    },
  ],
  [
    'no-circular',
    {
      'src/domain/x.ts': "import type { Y } from './y.js'; export type X = Y;",
      'src/domain/y.ts': "import type { X } from './x.js'; export type Y = X;",
    },
  ],
  ['no-orphans', { 'src/domain/x.ts': 'export const x = 1;' }],
  [
    'application-never-looks-outward',
    { 'src/application/x.ts': "import { rows } from '../adapters/postgres/rows.js'; export const x = rows;" },
  ],
  ['application-never-looks-outward', { 'src/application/x.ts': "import { node } from '../embedded/node.js'; export const x = node;" }],
  ['application-never-looks-outward', { 'src/application/x.ts': "import { c } from '../http/controller.js'; export const x = c;" }],
  [
    'http-never-imports-what-is-behind-ports',
    { 'src/http/x.ts': "import { log } from '../adapters/eventstoredb/log.js'; export const x = log;" },
  ],
  [
    'http-never-imports-what-is-behind-ports',
    { 'src/http/x.ts': "import type { node } from '../embedded/node.js'; export type X = typeof node;" },
  ],
];

describe('each rule', () => {
  const trees: string[] = [];
  afterAll(() => {
    for (const tree of trees) rmSync(tree, { recursive: true, force: true });
  });

  async function rulesBrokenBy(files: Record<string, string>): Promise<string[]> {
    const tree = realpathSync(mkdtempSync(join(tmpdir(), 'anvil-rules-')));
    trees.push(tree);
    for (const [path, text] of Object.entries({ ...ALLOWED, ...files })) {
      mkdirSync(join(tree, dirname(path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    const { summary } = await cruiseTree(tree);
    return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
  }

  it('lets the allowed arrows through', async () => {
    expect(await rulesBrokenBy({})).toEqual([]);
  });

  it.each(BROKEN)('%s is broken by %j', async (rule, files) => {
    expect(await rulesBrokenBy(files)).toEqual([rule]);
  });

  it('is broken here at least once', () => {
    const named = (options.ruleSet?.forbidden ?? []).map(({ name }) => name).sort();
    expect([...new Set(BROKEN.map(([rule]) => rule))].sort()).toEqual(named);
  });
});

/** What dependency-cruiser cannot see, because it is no import. Read from code without its comments and types. */
const SCANS: { rule: string; where: (path: string) => boolean; finds: RegExp[]; broken: string[]; fine: string[] }[] = [
  {
    rule: 'only src/config.ts reads the environment',
    where: (path) => path !== 'src/config.ts',
    finds: [
      /\bprocess\s*(\?\.|\.)\s*env\b/,
      /\bprocess\[["'`]env/,
      /=\s*process\b(?!\s*[.?[])/,
      /from\s*["'](node:)?process["']/,
      /\bglobalThis\b.{0,3}process/,
    ],
    broken: [
      'x(process.env.HOME);',
      'x(process?.env);',
      "x(process['env']);",
      'const { env } = process;',
      "import { env } from 'node:process'; x(env);",
      "import p from 'process'; x(p);",
      'x(globalThis.process);',
    ],
    fine: ['// process.env is read in config.ts\nx(process.pid);', 'const pid = process.pid;', 'x(config.env);'],
  },
  {
    rule: 'the pure folders have no clock, no random, no machine',
    where: (path) => /^(src\/(catalogue|domain|verifier)|projections)\//.test(path),
    finds: [
      /\bDate\.now\b|\bnew Date(?!\s*\(\s*[^)\s])|(?<!new )\bDate\(|\bperformance\.|\bset(Timeout|Interval|Immediate)\(/,
      /\bMath\.random\b|\brandom(UUID|Bytes|Int)\b|\bcrypto\./,
      /\bfetch\(|(?<![-/\w])process\.|\bconsole\./,
      // The order of words differs between machines.
      /\.toLocale|\blocaleCompare\b|\bIntl\./,
    ],
    broken: [
      'x(Date.now());',
      'x(new Date());',
      'x(new Date);',
      'x(Date());',
      'x(Math.random());',
      'x(performance.now());',
      'x(crypto.randomUUID());',
      'x(globalThis.crypto.subtle);',
      'setTimeout(x, 1);',
      "x(fetch('/'));",
      'x(process.pid);',
      "console.log('x');",
      "x('a'.localeCompare('b'));",
      'x(new Intl.Collator());',
    ],
    fine: ["x(new Date('2026-01-01T00:00:00Z'));", 'x(new Date(at));', '/* no Math.random() here */ x(1);', 'x(Date.parse(at));'],
  },
  {
    rule: 'domain and verifier take createHash from node:crypto, nothing else',
    where: (path) => /^src\/(domain|verifier)\//.test(path),
    finds: [/\bimport(?!\s*\{\s*createHash\s*\}\s*from)[^;]*["'](node:)?crypto["']/, /\bexport[^;]*from\s*["'](node:)?crypto["']/],
    broken: [
      "import { randomUUID } from 'node:crypto'; x(randomUUID);",
      "import { createHash, randomUUID } from 'node:crypto'; x(createHash, randomUUID);",
      "import crypto from 'node:crypto'; x(crypto);",
      "import * as all from 'crypto'; x(all);",
      "x(import('node:crypto'));",
      "export { randomUUID } from 'node:crypto';",
    ],
    fine: ["import { createHash } from 'node:crypto'; x(createHash);", "import { codes } from './data/codes.js'; x(codes);"],
  },
];

/** Whether one of the patterns is in the code that is left once comments and types are gone. */
function found(patterns: RegExp[], text: string): boolean {
  const parser = { syntax: 'typescript', decorators: true } as const;
  const { code } = transformSync(text, { jsc: { parser, target: 'es2022', minify: { format: { comments: false } } } });
  return patterns.some((pattern) => pattern.test(code));
}

describe.each(SCANS)('$rule', ({ where, finds, broken, fine }) => {
  it('in the real tree', () => {
    const looked = sources.filter(where);
    expect(looked.length).toBeGreaterThan(10);
    expect(looked.filter((path) => found(finds, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it.each(broken)('finds %j', (text) => {
    expect(found(finds, text)).toBe(true);
  });

  it.each(fine)('lets %j through', (text) => {
    expect(found(finds, text)).toBe(false);
  });
});
