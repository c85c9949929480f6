import { Metadata, status } from '@grpc/grpc-js';
import { WriteUnconfirmedError } from './log-writer.js';

/** An answer that refuses a call: a gRPC status, with trailers from which the client makes its typed errors. */
export class CallError extends Error {
  readonly metadata = new Metadata();

  constructor(
    readonly code: status,
    readonly details: string,
    trailers: Readonly<Record<string, string>> = {},
  ) {
    super(details);
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, headerSafe(value));
  }
}

export function invalidArgument(details: string): CallError {
  return new CallError(status.INVALID_ARGUMENT, details);
}

export function unimplemented(what: string): CallError {
  return new CallError(
    status.UNIMPLEMENTED,
    `The embedded event store does not support ${what}. A real EventStoreDB does: set EVENTSTORE_URL.`,
  );
}

export function unavailable(details: string): CallError {
  return new CallError(status.UNAVAILABLE, details);
}

export function streamDeleted(stream: string): CallError {
  return new CallError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

/** Used for deletes; appends answer the same in a message of their own. Without an actual version the client says "no stream". */
export function wrongExpectedVersion(operation: string, stream: string, expected: number, actual: number): CallError {
  return new CallError(
    status.FAILED_PRECONDITION,
    `${operation} failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      ...(actual >= 0 && { 'actual-version': String(actual) }),
    },
  );
}

export function maximumAppendSizeExceeded(limit: number): CallError {
  return new CallError(status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
}

export function requiredMetadataMissing(property: string): CallError {
  return new CallError(status.INVALID_ARGUMENT, `Required Metadata Property '${property}' is missing`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
}

/** What a call is answered when something failed that it did not cause. Only what was thrown on purpose is shown in its own words. */
export function toCallError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  if (error instanceof WriteUnconfirmedError) return unavailable(error.message);
  return unavailable(`The event log could not be read: ${error instanceof Error ? error.message : String(error)}`);
}

/** Trailers carry printable ASCII only; a name that has more is given with its other characters percent-encoded. */
function headerSafe(value: string): string {
  return value.replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part));
}
