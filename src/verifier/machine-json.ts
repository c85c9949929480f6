/** JSON that tools write: one document on a line, one over many lines, or one object a line. */

export interface JsonDocument {
  value: unknown;
  end: number;
}

/** A document that cannot be parsed is looked at only this often: a bound on what broken JSON can cost. */
const MOST_FAILURES = 20;
const LONGEST_DOCUMENT = 16_000_000;

export type Json = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
export const listOf = (value: unknown): readonly Json[] => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.flatMap((each) => {
    const object = objectOf(each);
    return object === null ? [] : [object];
  });
};
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
/** `at({a: {b: 1}}, 'a', 'b')` is 1; undefined where the path ends early. */
export const at = (value: unknown, ...path: string[]): unknown => {
  let here: unknown = value;
  for (const key of path) {
    const object = objectOf(here);
    if (object === null || !Object.hasOwn(object, key)) return undefined;
    here = object[key];
  }
  return here;
};

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const jsonReader = (lines: readonly string[]): ((at: number) => JsonDocument | null) => {
  let failures = 0;
  return (start) => {
    const line = lines[start] ?? '';
    const first = line[0];
    if ((first !== '{' && first !== '[') || failures >= MOST_FAILURES) return null;
    if (/^[{[]\s*$/.test(line.slice(0, 20)) && line.length < 20) {
      const close = first === '{' ? '}' : ']';
      let size = 0;
      for (let end = start + 1; end < lines.length && size < LONGEST_DOCUMENT; end += 1) {
        const text = lines[end] ?? '';
        size += text.length;
        if (text[0] !== close) continue;
        const value = parsed([...lines.slice(start, end), close].join('\n'));
        if (value === undefined) failures += 1;
        return value === undefined ? null : { value, end: end + 1 };
      }
      failures += 1;
      return null;
    }
    if (!/^(?:\{\s{0,4}"|\{\}|\[\s{0,4}[{[\]"])/.test(line.slice(0, 20))) return null;
    const value = parsed(line);
    if (value === undefined && line.length > 1_000) failures += 1;
    return value === undefined ? null : { value, end: start + 1 };
  };
};
