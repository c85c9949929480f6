import { slashed } from './normalise.js';
import { findingOf } from './rustc-text.js';
import type { Finding } from './types.js';

/** rustc's diagnostics as JSON lines: bare (`--error-format=json`) or in cargo's `compiler-message` envelope. */

type Json = Record<string, unknown>;
const object = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
const array = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const string = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A line that only cargo or rustc writes; parsed, so that a program's own JSON is not taken for it. */
export const looksLikeDiagnosticJson = (line: string): boolean =>
  line.startsWith('{') && (line.includes('"compiler-message"') || line.includes('"$message_type"') || line.includes('"build-finished"'));

export type JsonLine =
  | { kind: 'error'; finding: Finding; message: string; rendered: string | null }
  | { kind: 'other' }
  | { kind: 'finished'; success: boolean };

const CODE = /^E\d{4}$/;

export const readJsonLine = (line: string, at: number): JsonLine | null => {
  let parsed: Json | null;
  try {
    parsed = object(JSON.parse(line));
  } catch {
    return null;
  }
  if (parsed === null) return null;
  if (parsed.reason === 'build-finished') return { kind: 'finished', success: parsed.success === true };
  const message = parsed.reason === 'compiler-message' ? object(parsed.message) : parsed.$message_type === 'diagnostic' ? parsed : null;
  const text = string(message?.message);
  if (message === null || text === null) return { kind: 'other' };
  if (typeof message.level !== 'string' || !message.level.startsWith('error')) return { kind: 'other' };
  const code = string(object(message.code)?.code);
  const spans = array(message.spans).map(object);
  const primary = spans.filter((span) => span?.is_primary === true);
  const file = string(primary[0]?.file_name);
  const source = string(object(array(primary[0]?.text)[0])?.text) ?? '';
  const notes = array(message.children)
    .map(object)
    .flatMap((child) =>
      child === null || string(child.message) === null
        ? []
        : [`${string(child.level) ?? 'note'}: ${child.message}`.split('\n', 1)[0] ?? ''],
    );
  const finding = findingOf(
    {
      code: code !== null && CODE.test(code) ? code : null,
      lint: code !== null && !CODE.test(code) ? code : null,
      message: text,
      file: file === null ? null : slashed(file),
      place: file === null ? '' : `${slashed(file)}:${primary[0]?.line_start}:${primary[0]?.column_start}`,
      labels: primary.flatMap((span) => string(span?.label) ?? []),
      notes,
      compileError: /^\s*(?:::)?(?:\w+::)?compile_error!/.test(source),
    },
    at,
  );
  return { kind: 'error', finding, message: text, rendered: string(message.rendered) };
};
