import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/** What a call may have handed to its connection that is not written yet; messages other than bytes are small, and count as one unit. */
const MOST_BYTES_AHEAD = 256 * 1024;
const OTHER_MESSAGE_BYTES = 256;

/**
 * grpc-js (1.14) hands a call's next message to the connection when the one before is written, which takes a turn of the event loop: on a busy
 * process a subscription then brings one event a turn. Messages are handed on up to a bound without waiting, and the connection writes what it
 * has at once.
 */
export const sendAhead: ServerInterceptor = (_method, call) => new AheadCall(call);

class AheadCall extends ServerInterceptingCall {
  private ahead = 0;

  override sendMessage(message: unknown, callback: () => void): void {
    const bytes = message instanceof Uint8Array ? message.length : OTHER_MESSAGE_BYTES;
    this.ahead += bytes;
    const waits = this.ahead > MOST_BYTES_AHEAD;
    super.sendMessage(message, () => {
      this.ahead -= bytes;
      if (waits) callback();
    });
    if (!waits) callback();
  }
}
