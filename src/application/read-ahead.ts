/**
 * The same, read ahead while a batch is worked on, in fewer batches: of `most` (and so much more as came at once), or of what came within
 * `patienceMs`. Who leaves early ends by other means what is read.
 */
export async function* readAhead<T>(batches: AsyncIterable<T[]>, most: number, patienceMs: number): AsyncIterable<T[]> {
  let waiting: T[] = [];
  let wake = () => {};
  let over = false;
  let failure: unknown;
  const turn = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const read = async () => {
    for await (const batch of batches) {
      for (const one of batch) waiting.push(one);
      wake();
      while (waiting.length >= most && !over) await turn();
      if (over) return;
    }
  };
  void read()
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      over = true;
      wake();
    });
  try {
    for (;;) {
      if (waiting.length === 0) {
        if (failure !== undefined) throw failure;
        if (over) return;
        await turn();
        continue;
      }
      let patient = true;
      const timer = setTimeout(() => {
        patient = false;
        wake();
      }, patienceMs);
      while (waiting.length < most && patient && !over) await turn();
      clearTimeout(timer);
      const batch = waiting;
      waiting = [];
      wake();
      yield batch;
    }
  } finally {
    over = true;
    wake();
  }
}
