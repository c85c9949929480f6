/** The other side of startChild: answers calls of the functions until whoever started this process lets go of it, or is gone. */
export function answerCalls(functions, onEnd = async () => {}) {
  // An interrupt reaches the whole group of processes. The one that started the others ends them, in its order.
  process.on('SIGINT', () => {});
  process.on('message', async ({ id, called, input }) => {
    try {
      process.send({ id, result: await functions[called](input) });
    } catch (error) {
      process.send({ id, error: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.once('disconnect', async () => {
    await onEnd();
    process.exit(0);
  });
  process.send({ id: 0 });
}
