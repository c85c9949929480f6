import type { LiveTail } from './live-tail.js';
import type { LogReader } from './log-reader.js';
import type { LogWriter } from './log-writer.js';
import type { OpenCalls } from './open-calls.js';

/** What the calls of a node work with. */
export interface NodeContext {
  readonly writer: LogWriter;
  readonly reader: LogReader;
  readonly tail: LiveTail;
  readonly openCalls: OpenCalls;
  /** Bytes of one whole append. */
  readonly maxAppendSize: number;
}
