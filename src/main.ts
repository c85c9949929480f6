import 'reflect-metadata';
import { pino } from 'pino';
import { assemble } from './app.module.js';
import { readConfig } from './config.js';
import { startEngines } from './embedded/engines.js';
import { ownLifetime } from './embedded/lifetime.js';
import { createApp } from './http/create-app.js';

// The log goes to standard error, a line of JSON each; what a person reads at the start goes to standard output.
const destination = pino.destination({ fd: 2, sync: true });
// A log that cannot be written, to a full disk say, is no reason to answer nobody.
destination.on('error', () => {});
const logger = pino({ base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
const report = (message: string, level: 'warn' | 'info' = 'warn') => logger[level](message);

await ownLifetime(report, async ({ onEnd, end }) => {
  const config = readConfig();
  logger.level = config.logLevel;
  const engines = await startEngines({ ...config, log: report });
  onEnd(() => engines.stop());
  void engines.failed.then((reason) => {
    report(`an engine of this process ended, and so does this process: ${reason.message}`);
    end(1);
  });
  const rebuildWorker = new URL('./rebuild-worker.js', import.meta.url);
  const parts = await assemble({ ...config, ...engines, rebuildWorker, report });
  onEnd(() => parts.close());
  const app = await createApp(parts.module, logger);
  onEnd(() => {
    parts.drain();
    return app.close();
  });
  await app.listen(config.port, config.host);
  parts.run();
  const address = await app.getUrl();
  console.log(
    ['', `Anvil answers on ${address}`, ...engines.lines.map((line) => `  ${line}`), `  docs         ${address}/docs`, ''].join('\n'),
  );
});
