import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { invalidArgument, streamDeleted, toCallError, wrongExpectedVersion } from './errors.js';
import type { NodeContext } from './node-context.js';
import { expectedOf, writableStreamNameOf } from './requests.js';

/** Delete hides what a stream holds; it can be written again, and goes on counting. */
export function createDeleteCall(node: NodeContext): handleUnaryCall<streams.DeleteReq, streams.DeleteResp> {
  return async (call, callback) => {
    try {
      const position = await remove(node, 'delete', call.request.getOptions(), () => call.cancelled);
      const answer = new streams.DeleteResp.Position();
      answer.setCommitPosition(position);
      answer.setPreparePosition(position);
      callback(null, new streams.DeleteResp().setPosition(answer));
    } catch (error) {
      callback(toCallError(error));
    }
  };
}

/** Tombstone ends a stream for good. */
export function createTombstoneCall(node: NodeContext): handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp> {
  return async (call, callback) => {
    try {
      const position = await remove(node, 'tombstone', call.request.getOptions(), () => call.cancelled);
      const answer = new streams.TombstoneResp.Position();
      answer.setCommitPosition(position);
      answer.setPreparePosition(position);
      callback(null, new streams.TombstoneResp().setPosition(answer));
    } catch (error) {
      callback(toCallError(error));
    }
  };
}

async function remove(
  node: NodeContext,
  kind: 'delete' | 'tombstone',
  options: streams.DeleteReq.Options | streams.TombstoneReq.Options | undefined,
  abandoned: () => boolean,
): Promise<string> {
  if (options === undefined) throw invalidArgument('The options are missing.');
  const stream = writableStreamNameOf(options.getStreamIdentifier());
  const expected = expectedOf(options, options.hasRevision() ? options.getRevision() : null);
  const outcome = await node.writer.submit({ kind, stream, expected, events: [] }, abandoned);
  switch (outcome.kind) {
    case 'done':
      return String(outcome.position);
    case 'deleted':
      throw streamDeleted(stream);
    case 'wrong-version':
      throw wrongExpectedVersion(kind === 'delete' ? 'Delete' : 'Tombstone', stream, expected, outcome.current);
  }
}
