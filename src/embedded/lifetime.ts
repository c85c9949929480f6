export interface Lifetime {
  /** What was started last is closed first. */
  onEnd(close: () => Promise<unknown>): void;
  end(status: number): void;
}

/**
 * Owns a process from its start to its end. A signal, a failing start or `end` close what was started, once, after the start has
 * settled, so that nothing which was just being started is left behind. A second signal does not wait.
 */
export async function ownLifetime(report: (line: string) => void, start: (lifetime: Lifetime) => Promise<void>): Promise<void> {
  const closings: (() => Promise<unknown>)[] = [];
  let end: (status: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    if (signals > 1) process.exit(130);
    end(0);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    await start({ onEnd: (close) => closings.push(close), end });
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    end(1);
  }
  const status = await ended;
  for (const close of closings.reverse()) await close().catch((error: unknown) => report(`while closing: ${String(error)}`));
  process.exit(status);
}
