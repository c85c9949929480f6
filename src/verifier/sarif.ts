import type { Category } from './categories.js';
import { found } from './found.js';
import { type Json, jsonReader, listOf, numberOf, objectOf, at as pick, stringOf } from './machine-json.js';
import { slugOf } from './patterns.js';
import { addRuff } from './ruff.js';
import type { Grammar, Scan } from './scan.js';

/** SARIF 2.1: one document, a run a tool. Rules are named as the tool names them in its own text. */

const categoryOf = (tool: string, rule: string): Category => {
  if (/^(?:format|parse|syntax)\b|invalid-syntax/.test(rule)) return rule.startsWith('format') ? 'format' : 'syntax';
  return tool === 'mypy' ? 'type' : 'lint';
};

const readRun = (scan: Scan, run: Json, at: number): void => {
  const name = slugOf(stringOf(pick(run, 'tool', 'driver', 'name')) || 'sarif').split('_')[0] ?? 'sarif';
  const results = listOf(run.results);
  const errors = results.filter((each) => each.level === 'error' && each.kind !== 'pass' && each.suppressions === undefined);
  for (const each of errors) {
    const place = objectOf(pick(listOf(each.locations)[0], 'physicalLocation'));
    const file = stringOf(pick(place, 'artifactLocation', 'uri'));
    const [line, column] = [numberOf(pick(place, 'region', 'startLine')), numberOf(pick(place, 'region', 'startColumn'))];
    const message = stringOf(pick(each, 'message', 'text'));
    const rule = stringOf(each.ruleId) || stringOf(pick(each, 'rule', 'id'));
    if (name === 'ruff') {
      addRuff(scan, { code: rule, file: file.replace(/^file:\/\/(?=\/)/, ''), line, column, message }, at);
      continue;
    }
    const last = name === 'biome' ? (rule.split('/').at(-1) ?? rule) : rule;
    scan.add(
      found({
        tool: name,
        pattern: `${name}_${last || 'error'}`,
        category: categoryOf(name, rule),
        message: message.replace(/([^ ])\.$/, '$1'),
        file,
        at,
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
      }),
    );
  }
};

export const sarif: Grammar = {
  tool: 'sarif',
  words: [],
  telltale: (line) =>
    /^\s{0,8}\{?\s{0,8}"\$schema": ?"[^"]{0,200}sarif/.test(line.slice(0, 300)) ||
    /^\{.{0,200}"version": ?"2\.1\.0".{0,20}"runs"/.test(line.slice(0, 300)),
  start: (scan) => {
    const json = jsonReader(scan.lines);
    return {
      read: (at) => {
        const line = scan.lines[at] ?? '';
        if (line[0] !== '{' || !/sarif|2\.1\.0/.test(line.length < 20 ? scan.lines.slice(at + 1, at + 6).join('') : line.slice(0, 400)))
          return null;
        const document = json(at);
        const value = objectOf(document?.value);
        if (document === null || value === null || !Array.isArray(value.runs)) return null;
        for (const run of listOf(value.runs)) readRun(scan, run, at);
        return document.end;
      },
    };
  },
};
