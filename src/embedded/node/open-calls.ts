import type { CallError } from './errors.js';

/** The streaming calls that are open, so that a node that stops can end them with a reason instead of cutting the connection. */
export class OpenCalls {
  private readonly calls = new Set<(error: CallError) => void>();
  private stopped: CallError | null = null;

  /** Registers how to end a call. Returns what to call when it has ended by itself. */
  add(end: (error: CallError) => void): () => void {
    if (this.stopped !== null) end(this.stopped);
    else this.calls.add(end);
    return () => this.calls.delete(end);
  }

  /** Ends those that come later too. */
  stop(error: CallError): void {
    this.stopped = error;
    this.endAll(error);
  }

  endAll(error: CallError): void {
    const calls = [...this.calls];
    this.calls.clear();
    for (const end of calls) end(error);
  }
}
