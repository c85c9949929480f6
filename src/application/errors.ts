/** An id that names nothing: HTTP answers 404. */
export class NotFound extends Error {
  override name = 'NotFound';
}

/** An idempotency key that came before with another body: HTTP answers 422. */
export class KeyReused extends Error {
  override name = 'KeyReused';
}

/** The caller changes what it has not seen, by its own `If-Match`: HTTP answers 412. */
export class PreconditionFailed extends Error {
  override name = 'PreconditionFailed';
}

/** Input that is well-formed and still cannot be meant: HTTP answers 400 and names the field. */
export class InvalidField extends Error {
  override name = 'InvalidField';

  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/** A read model has not yet seen the position that was asked for: HTTP answers 503. */
export class NotCaughtUp extends Error {
  override name = 'NotCaughtUp';
}

/** As many are served at once as there may be, or the service is about to end: HTTP answers 503. */
export class NoRoom extends Error {
  override name = 'NoRoom';
}
