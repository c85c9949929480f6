import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import { EXPECT_ANY, EXPECT_NO_STREAM, EXPECT_STREAM_EXISTS } from './append-rules.js';
import { type CallError, invalidArgument, maximumAppendSizeExceeded, streamDeleted, toCallError } from './errors.js';
import type { WriteOutcome, WriteRequest } from './log-batch.js';
import { appendSize, type ProposedEvent } from './log-event.js';
import type { NodeContext } from './node-context.js';
import { expectedOf, proposedEventOf, writableStreamNameOf } from './requests.js';

type AppendCall = ServerReadableStream<streams.AppendReq, streams.AppendResp>;

/** Append: options first, then each event in a message of its own, then one answer. The client uses it when a call has credentials. */
export function createAppendCall(node: NodeContext) {
  return (call: AppendCall, callback: sendUnaryData<streams.AppendResp>): void => {
    const incoming = new IncomingAppend(node.maxAppendSize);
    let answered = false;
    const refuse = (error: CallError) => {
      if (!answered) callback(error);
      answered = true;
    };
    call.on('error', () => undefined);
    call.on('data', (message: streams.AppendReq) => {
      if (answered) return;
      try {
        incoming.take(message);
      } catch (error) {
        refuse(toCallError(error));
      }
    });
    call.on('end', async () => {
      if (answered) return;
      try {
        const request = incoming.finish();
        const outcome = await node.writer.submit(request, () => call.cancelled);
        if (outcome.kind === 'deleted') throw streamDeleted(request.stream);
        callback(null, toResponse(request, outcome));
      } catch (error) {
        refuse(toCallError(error));
      }
    });
  };
}

/** The append that a call is building up. */
class IncomingAppend {
  private options: { stream: string; expected: number } | null = null;
  private readonly events: ProposedEvent[] = [];
  private size = 0;

  constructor(private readonly maxAppendSize: number) {}

  take(message: streams.AppendReq): void {
    const options = message.getOptions();
    const proposed = message.getProposedMessage();
    if (options !== undefined) {
      if (this.options !== null) throw invalidArgument('An append has its options once.');
      const expected = expectedOf(options, options.hasRevision() ? options.getRevision() : null);
      this.options = { stream: writableStreamNameOf(options.getStreamIdentifier()), expected };
      return;
    }
    if (proposed === undefined || this.options === null)
      throw invalidArgument('An append begins with its options, and goes on with events.');
    const event = proposedEventOf(proposed);
    this.size += appendSize(event);
    if (this.size > this.maxAppendSize) throw maximumAppendSizeExceeded(this.maxAppendSize);
    this.events.push(event);
  }

  finish(): WriteRequest {
    if (this.options === null) throw invalidArgument('An append begins with its options.');
    return { kind: 'append', ...this.options, events: this.events };
  }
}

function toResponse(request: WriteRequest, outcome: Exclude<WriteOutcome, { kind: 'deleted' }>): streams.AppendResp {
  const response = new streams.AppendResp();
  if (outcome.kind === 'wrong-version') return response.setWrongExpectedVersion(wrongVersion(request.expected, outcome.current));
  const success = new streams.AppendResp.Success();
  if (outcome.revision < 0) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(String(outcome.revision));
  if (outcome.position === null) {
    success.setNoPosition(new shared.Empty());
  } else {
    const position = new streams.AppendResp.Position();
    position.setCommitPosition(String(outcome.position));
    position.setPreparePosition(String(outcome.position));
    success.setPosition(position);
  }
  return response.setSuccess(success);
}

function wrongVersion(expected: number, current: number): streams.AppendResp.WrongExpectedVersion {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision(String(current));
  if (expected === EXPECT_ANY) message.setExpectedAny(new shared.Empty());
  else if (expected === EXPECT_STREAM_EXISTS) message.setExpectedStreamExists(new shared.Empty());
  else if (expected === EXPECT_NO_STREAM) message.setExpectedNoStream(new shared.Empty());
  else message.setExpectedRevision(String(expected));
  return message;
}
