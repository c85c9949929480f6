import { invalidArgument } from './errors.js';
import type { LogEvent } from './log-event.js';
import { checkPattern } from './safe-pattern.js';

const MAX_PREFIXES = 100;
const MAX_PREFIX_LENGTH = 1024;
/** What `excludeSystemEvents` of the client sends; by far the most used pattern, and simple enough for an index scan. */
const NOT_SYSTEM = new Set(['^[^$].*', '^[^\\$].*']);

/** Which events of $all a reader wants. */
export interface EventFilter {
  readonly matches: (event: LogEvent) => boolean;
  /** The same as a condition on `e.type` and `s.name`, for filters that PostgreSQL can decide without sending bodies. */
  readonly sql: { readonly name: string; readonly condition: (parameter: string) => string; readonly value?: readonly string[] } | null;
}

/** The protocol's filter: on the stream's name or the event's type, by prefixes or by a regular expression. */
export function createFilter(on: 'stream' | 'type', prefixes: readonly string[], regex: string): EventFilter {
  const subject: (event: LogEvent) => string = on === 'stream' ? (event) => event.stream : (event) => event.type;
  const column = on === 'stream' ? 's.name' : 'e.type';
  if (regex !== '') {
    if (prefixes.length > 0) throw invalidArgument('A filter has either prefixes or a regular expression.');
    if (NOT_SYSTEM.has(regex)) {
      return {
        matches: (event) => !subject(event).startsWith('$'),
        sql: { name: `${on}-not-system`, condition: () => `NOT starts_with(${column}, '$')` },
      };
    }
    const pattern = checkPattern(regex);
    return { matches: (event) => pattern.test(subject(event)), sql: null };
  }
  if (prefixes.length === 0) throw invalidArgument('A filter needs prefixes or a regular expression.');
  if (prefixes.length > MAX_PREFIXES || prefixes.some((prefix) => prefix.length > MAX_PREFIX_LENGTH || prefix.includes('\0'))) {
    throw invalidArgument(`A filter has at most ${MAX_PREFIXES} prefixes of ${MAX_PREFIX_LENGTH} characters, without NUL.`);
  }
  const wanted = [...prefixes];
  return {
    matches: (event) => {
      const value = subject(event);
      return wanted.some((prefix) => value.startsWith(prefix));
    },
    sql: { name: `${on}-prefix`, condition: (parameter) => `${column} ^@ ANY (${parameter}::text[])`, value: wanted },
  };
}
