import type shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type BatchFailure, badRequest, batchFailure, batchSuccess, tooLarge } from './batch-append-answers.js';
import { CallError, invalidArgument, toCallError } from './errors.js';
import { appendSize, type ProposedEvent } from './log-event.js';
import type { NodeContext } from './node-context.js';
import { expectedOf, proposedEventOf, uuidOf, writableStreamNameOf } from './requests.js';

type BatchCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

const MAX_UNFINISHED = 256;

/** An append of which not all parts have come. */
interface Unfinished {
  readonly identifier: shared.StreamIdentifier | undefined;
  readonly stream: string;
  readonly expected: number;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly events: ProposedEvent[];
  size: number;
  /** It was answered already; what still comes of it is dropped. */
  refused: boolean;
}

/**
 * BatchAppend: one long call for all the appends of a client, each in one or several parts and told apart by its correlation id. Every append
 * gets exactly one answer, in the order of their commits; what is wrong with one of them must not end the call, and the others with it.
 */
export function createBatchAppendCall(node: NodeContext) {
  return (call: BatchCall): void => {
    const unfinished = new Map<string, Unfinished>();
    const close = node.openCalls.add((error) => call.emit('error', error));
    let waiting = 0;
    let ended = false;
    let paused = false;

    call.on('cancelled', close);
    call.on('error', close);
    call.on('data', (message: streams.BatchAppendReq) => {
      try {
        take(message);
      } catch (error) {
        // Without a correlation id there is nobody to answer.
        call.emit('error', toCallError(error));
      }
    });
    call.on('end', () => {
      ended = true;
      if (waiting === 0) finish();
    });

    function take(message: streams.BatchAppendReq): void {
      const correlation = message.getCorrelationId();
      const id = uuidOf(correlation);
      const options = message.getOptions();
      let append = unfinished.get(id);
      if (options !== undefined && append === undefined) {
        append = begin(options);
        if (unfinished.size >= MAX_UNFINISHED) throw invalidArgument(`At most ${MAX_UNFINISHED} appends may be unfinished at a time.`);
        unfinished.set(id, append);
        if (append.refused) answer(correlation, append, badRequest('The options of the append are not valid.'));
      }
      if (append === undefined) return;
      if (!append.refused) addEvents(correlation, append, message.getProposedMessagesList());
      if (!message.getIsFinal()) return;
      unfinished.delete(id);
      if (!append.refused) void submit(correlation, append);
    }

    function addEvents(
      correlation: shared.UUID | undefined,
      append: Unfinished,
      messages: readonly streams.BatchAppendReq.ProposedMessage[],
    ): void {
      try {
        for (const message of messages) {
          const event = proposedEventOf(message);
          append.size += appendSize(event);
          if (append.size > node.maxAppendSize) {
            refuse(correlation, append, tooLarge(node.maxAppendSize));
            return;
          }
          append.events.push(event);
        }
      } catch (error) {
        refuse(correlation, append, badRequest(toCallError(error).details));
      }
    }

    function refuse(correlation: shared.UUID | undefined, append: Unfinished, failure: BatchFailure): void {
      append.refused = true;
      append.events.length = 0;
      answer(correlation, append, failure);
    }

    async function submit(correlation: shared.UUID | undefined, append: Unfinished): Promise<void> {
      const { stream, expected, events } = append;
      waiting += 1;
      const outcome = node.writer.submit(
        { kind: 'append', stream, expected, events },
        () => call.cancelled || Date.now() > append.deadline,
      );
      holdBack();
      try {
        answer(correlation, append, await outcome);
      } catch {
        answer(correlation, append, { kind: 'unconfirmed' });
      }
      waiting -= 1;
      if (ended && waiting === 0) finish();
    }

    function answer(
      correlation: shared.UUID | undefined,
      append: Unfinished,
      outcome: Parameters<typeof batchFailure>[1] | BatchDone,
    ): void {
      const response = outcome.kind === 'done' ? batchSuccess(outcome) : batchFailure(append, outcome);
      response.setCorrelationId(correlation);
      response.setStreamIdentifier(append.identifier);
      if (!call.cancelled && !call.destroyed) call.write(response);
    }

    /** When the log cannot keep up, the client is held back by its flow control rather than kept in memory here. */
    function holdBack(): void {
      if (!node.writer.isFull || paused) return;
      paused = true;
      call.pause();
      void node.writer.relief().then(() => {
        paused = false;
        call.resume();
      });
    }

    function finish(): void {
      close();
      call.end();
    }
  };
}

type BatchDone = Parameters<typeof batchSuccess>[0];

function begin(options: streams.BatchAppendReq.Options): Unfinished {
  const identifier = options.getStreamIdentifier();
  const deadline = options.getDeadline();
  const common = {
    identifier,
    deadline: deadline === undefined ? Number.POSITIVE_INFINITY : deadline.getSeconds() * 1000 + deadline.getNanos() / 1e6,
    events: [],
    size: 0,
  };
  try {
    const expected = expectedOf(options, options.hasStreamPosition() ? options.getStreamPosition() : null);
    return { ...common, stream: writableStreamNameOf(identifier), expected, refused: false };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { ...common, stream: '', expected: 0, refused: true };
  }
}
