import service from '@eventstore/db-client/generated/streams_grpc_pb.js';

type Listener = (...given: unknown[]) => void;
interface Listened {
  on(event: string, listener: Listener): this;
}

/**
 * The client (6.2.1) rejects and forgets every append that waits, on all its calls, when one of them fails: also those of a call that it
 * has just opened anew and that does bring an answer. On such an answer its listener throws where nobody can catch it, and the process
 * ends. The append was rejected, and whoever made it makes it again: its late answer is let go.
 */
export function letGoOfLateAnswers(): void {
  const client = service.StreamsClient.prototype as unknown as { batchAppend(...given: unknown[]): Listened };
  const { batchAppend } = client;
  client.batchAppend = function (...given) {
    const call = batchAppend.apply(this, given);
    const on = call.on.bind(call);
    call.on = (event, listener) => on(event, event === 'data' ? unlessForgotten(listener) : listener);
    return call;
  };
}

/** Looking up a forgotten append is a TypeError; the listener does nothing else that could be one. */
function unlessForgotten(listener: Listener): Listener {
  return (...given) => {
    try {
      listener(...given);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  };
}
