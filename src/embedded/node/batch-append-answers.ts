import shared from '@eventstore/db-client/generated/shared_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import anyMessages from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { EXPECT_ANY, EXPECT_NO_STREAM, EXPECT_STREAM_EXISTS } from './append-rules.js';
import type { WriteOutcome } from './log-batch.js';

export type BatchFailure =
  | Exclude<WriteOutcome, { kind: 'done' }>
  | { readonly kind: 'unconfirmed' }
  | { readonly kind: 'refused'; readonly message: string; readonly typeName: string; readonly details: Uint8Array };

export function badRequest(message: string): BatchFailure {
  const details = new shared.BadRequest();
  details.setMessage(message);
  return { kind: 'refused', message, typeName: 'BadRequest', details: details.serializeBinary() };
}

export function tooLarge(limit: number): BatchFailure {
  const details = new shared.MaximumAppendSizeExceeded();
  details.setMaxappendsize(limit);
  return {
    kind: 'refused',
    message: 'MaximumAppendSizeExceeded',
    typeName: 'MaximumAppendSizeExceeded',
    details: details.serializeBinary(),
  };
}

export function batchSuccess(outcome: Extract<WriteOutcome, { kind: 'done' }>): streams.BatchAppendResp {
  const success = new streams.BatchAppendResp.Success();
  if (outcome.revision < 0) success.setNoStream(new empty.Empty());
  else success.setCurrentRevision(String(outcome.revision));
  if (outcome.position === null) {
    success.setNoPosition(new empty.Empty());
  } else {
    const position = new shared.AllStreamPosition();
    position.setCommitPosition(String(outcome.position));
    position.setPreparePosition(String(outcome.position));
    success.setPosition(position);
  }
  return new streams.BatchAppendResp().setSuccess(success);
}

/** A google.rpc.Status whose details name the error: that, and not the code, is what the client goes by. */
export function batchFailure(
  append: { expected: number; identifier: shared.StreamIdentifier | undefined },
  failure: BatchFailure,
): streams.BatchAppendResp {
  switch (failure.kind) {
    case 'wrong-version':
      return withStatus(
        status.ALREADY_EXISTS,
        'WrongExpectedVersion',
        'WrongExpectedVersion',
        wrongVersion(append.expected, failure.current).serializeBinary(),
      );
    case 'deleted': {
      const details = new shared.StreamDeleted();
      details.setStreamIdentifier(append.identifier);
      return withStatus(status.NOT_FOUND, 'StreamDeleted', 'StreamDeleted', details.serializeBinary());
    }
    case 'unconfirmed':
      // The protocol's own word for "nobody knows": the client makes a DeadlineExceededError of it. Ending the call with UNAVAILABLE would say
      // the same, but would also fail all other appends of the client, and leave hanging the one that it is about to send.
      return withStatus(status.UNAVAILABLE, 'Timeout', 'Timeout', new shared.Timeout().serializeBinary());
    case 'refused':
      return withStatus(status.INVALID_ARGUMENT, failure.message, failure.typeName, failure.details);
  }
}

function withStatus(code: status, message: string, typeName: string, details: Uint8Array): streams.BatchAppendResp {
  const packed = new anyMessages.Any();
  packed.pack(details, `event_store.client.${typeName}`);
  const error = new statusMessages.Status();
  error.setCode(code as number);
  error.setMessage(message);
  error.setDetails(packed);
  return new streams.BatchAppendResp().setError(error);
}

function wrongVersion(expected: number, current: number): shared.WrongExpectedVersion {
  const message = new shared.WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new empty.Empty());
  else message.setCurrentStreamRevision(String(current));
  if (expected === EXPECT_ANY) message.setExpectedAny(new empty.Empty());
  else if (expected === EXPECT_STREAM_EXISTS) message.setExpectedStreamExists(new empty.Empty());
  else if (expected === EXPECT_NO_STREAM) message.setExpectedNoStream(new empty.Empty());
  else message.setExpectedStreamPosition(String(expected));
  return message;
}
