import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { CallError } from './errors.js';

/** A read call; its answers go out as bytes that are encoded already. */
export type ReadCall = ServerWritableStream<streams.ReadReq, Buffer>;

/** The sending side of a read call: waits for slow clients, and knows when nobody listens any more. */
export class Responder {
  private ended = false;
  private wakers: (() => void)[] = [];

  constructor(private readonly call: ReadCall) {
    call.on('drain', () => this.wake());
    call.on('cancelled', () => this.close());
    call.on('error', () => this.close());
    call.on('close', () => this.close());
  }

  get closed(): boolean {
    return this.ended || this.call.cancelled;
  }

  /** Sends a message; the promise, if there is one, must be awaited before the next. */
  send(message: Buffer): Promise<void> | undefined {
    if (this.closed) return undefined;
    return this.call.write(message) ? undefined : this.drained();
  }

  private async drained(): Promise<void> {
    while (this.call.writableNeedDrain && !this.closed) await this.wait();
  }

  /** Resolves at the next `wake`, which a closing call brings too. */
  wait(): Promise<void> {
    return this.closed ? Promise.resolve() : new Promise((resolve) => this.wakers.push(resolve));
  }

  wake(): void {
    const { wakers } = this;
    if (wakers.length === 0) return;
    this.wakers = [];
    for (const waker of wakers) waker();
  }

  end(): void {
    if (this.closed) return;
    this.close();
    this.call.end();
  }

  fail(error: CallError): void {
    if (this.closed) return;
    this.close();
    this.call.emit('error', error);
  }

  private close(): void {
    this.ended = true;
    this.wake();
  }
}
