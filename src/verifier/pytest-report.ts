import type { TestCase } from './junit-cases.js';
import { type Json, jsonReader, listOf, objectOf, at as pick, stringOf } from './machine-json.js';
import { addFailed, type Failed, nodeId } from './pytest.js';
import { type Body, readBody } from './pytest-body.js';
import type { Grammar, Scan } from './scan.js';

/** pytest's reports: JUnit, and the JSON of pytest-json-report. Both hold the text of the terminal's blocks, which is read the same way. */

const addCase = (scan: Scan, test: string, testFile: string | null, phase: Failed['phase'], body: Body, at: number): void =>
  addFailed(scan, { phase, test, body, at }, testFile, { owner: testFile ?? test, file: body.file ?? testFile });

/** `tests.test_cart.TestCart`: the module's parts, then the classes, which by convention begin with a capital. */
const placeOf = (classname: string, file: string): { file: string | null; classes: string[] } => {
  const parts = classname.split('.').filter((part) => part !== '');
  const first = parts.findIndex((part) => /^[A-Z]/.test(part));
  const modules = first < 0 ? parts : parts.slice(0, first);
  return { file: file || (modules.length === 0 ? null : `${modules.join('/')}.py`), classes: first < 0 ? [] : parts.slice(first) };
};

export const addPytestCase = (scan: Scan, each: TestCase, at: number): void => {
  const { file, classes } = placeOf(each.classname, each.file);
  for (const { message, text } of each.failures) {
    const phase =
      message === 'collection failure'
        ? 'collect'
        : /^failed on (setup|teardown)/.exec(message)?.[1] === 'teardown'
          ? 'teardown'
          : message.startsWith('failed on setup')
            ? 'setup'
            : 'call';
    const lines = text.split('\n');
    const read = readBody(lines, 0, lines.length);
    const body = message.startsWith('[XPASS(strict)]') ? { ...read, xpass: true, identity: '' } : read;
    const collected = phase === 'collect' && file === null ? `${each.name.replaceAll('.', '/')}.py` : file;
    addCase(scan, [...classes, each.name.replace(/\[.*$/s, '')].join('.'), collected, phase, body, at);
  }
};

const readJson = (scan: Scan, document: Json, at: number): void => {
  for (const test of listOf(document.tests)) {
    const id = nodeId(stringOf(test.nodeid));
    for (const phase of ['setup', 'call', 'teardown'] as const) {
      const stage = objectOf(test[phase]);
      if (stage === null || stage.outcome !== 'failed') continue;
      const longrepr = stringOf(stage.longrepr);
      const lines = (longrepr === '' ? `E   ${stringOf(pick(stage, 'crash', 'message'))}` : longrepr).split('\n');
      const read = readBody(lines, 0, lines.length);
      addCase(scan, id.test, id.file, phase, longrepr.startsWith('[XPASS(strict)]') ? { ...read, xpass: true, identity: '' } : read, at);
    }
  }
  for (const collector of listOf(document.collectors)) {
    if (collector.outcome !== 'failed') continue;
    const lines = stringOf(collector.longrepr).split('\n');
    addCase(scan, stringOf(collector.nodeid), stringOf(collector.nodeid), 'collect', readBody(lines, 0, lines.length), at);
  }
  const failed = Number(pick(document, 'summary', 'failed') ?? 0) + Number(pick(document, 'summary', 'error') ?? 0);
  scan.reading.summary = failed > 0 || Number(document.exitcode) > 0 ? 'failed' : (scan.reading.summary ?? 'passed');
};

export const pytestReport: Grammar = {
  tool: 'pytest',
  words: [],
  telltale: (line) => line.startsWith('{"created":') && line.includes('"exitcode":'),
  start: (scan) => {
    const json = jsonReader(scan.lines);
    return {
      read: (at) => {
        const line = scan.lines[at] ?? '';
        if (line[0] !== '{' || !(line.startsWith('{"created":') || (line === '{' && /^\s+"created":/.test(scan.lines[at + 1] ?? ''))))
          return null;
        const document = json(at);
        const value = objectOf(document?.value);
        if (document === null || value === null || !('exitcode' in value)) return null;
        readJson(scan, value, at);
        return document.end;
      },
    };
  },
};
