/** A line that cannot be taken: HTTP answers 400 and names it, or 409 where it is the log that it does not fit. */
export class BadLine extends Error {
  override name = 'BadLine';
  /** What was stored before it. */
  stored = '';

  constructor(
    readonly line: number,
    message: string,
    readonly conflict = false,
  ) {
    super(message);
  }
}

/** Characters of the longest line that an export can have, several times over: an append is no larger than 1 MiB. */
const LONGEST = 8 * 1024 * 1024;

/** The lines of a text that comes in pieces, counted from 1; empty ones are passed over. Throws {@link BadLine}. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ number: number; text: string }> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (part: Uint8Array) => {
    length += part.length;
    if (length > LONGEST) throw new BadLine(number, `is longer than ${LONGEST} bytes`);
    parts.push(part);
  };
  const whole = () => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    parts = [];
    length = 0;
    try {
      return decoder.decode(bytes).trim();
    } catch {
      throw new BadLine(number, 'is not UTF-8');
    }
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      const text = whole();
      if (text !== '') yield { number, text };
      number += 1;
    }
    take(chunk.subarray(from));
  }
  const text = whole();
  if (text !== '') yield { number, text };
}

/** The JSON of a line, by a schema. Throws {@link BadLine} that names every field that is wrong. */
export function parseLine<T>(
  line: { number: number; text: string },
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } } },
): T {
  const parsed = schema.safeParse(jsonOf(line));
  if (parsed.success) return parsed.data;
  throw new BadLine(line.number, parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`).join('; '));
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

export function jsonOf({ number, text }: { number: number; text: string }): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadLine(number, 'is not JSON');
  }
}
