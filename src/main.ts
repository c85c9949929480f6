import 'reflect-metadata';
import { assemble, type Parts } from './app.module.js';
import { readConfig } from './config.js';
import { startEngines } from './embedded/engines.js';
import { createApp } from './http/create-app.js';

const report = (message: string) => console.error(`${new Date().toISOString()} ${message}`);

/** Starts everything, and owns its end: what was started last is closed first, whether by a signal or by a failure on the way. */
async function main(): Promise<void> {
  const closings: (() => Promise<unknown>)[] = [];
  let ending = false;
  const end = async (status: number) => {
    if (ending) return;
    ending = true;
    for (const close of closings.reverse()) await close().catch((error: unknown) => report(`while closing: ${String(error)}`));
    process.exit(status);
  };
  process.on('SIGINT', () => void end(0));
  process.on('SIGTERM', () => void end(0));

  try {
    const config = readConfig();
    const engines = await startEngines({ ...config, log: report });
    closings.push(() => engines.stop());
    void engines.failed.then((reason) => {
      report(`the embedded event store ended: ${reason.message}`);
      return end(1);
    });
    const parts: Parts = await assemble({ ...config, ...engines, report });
    closings.push(() => parts.close());
    const app = await createApp(parts.module, report);
    closings.push(() => app.close());
    await app.listen(config.port, config.host);
    parts.run();
    const address = await app.getUrl();
    console.log(['', `Anvil answers on ${address}`, ...engines.lines.map((line) => `  ${line}`), `  docs         ${address}/docs`, ''].join('\n'));
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    await end(1);
  }
}

await main();
