import 'reflect-metadata';
import { assemble } from './app.module.js';
import { readConfig } from './config.js';
import { startEngines } from './embedded/engines.js';
import { ownLifetime } from './embedded/lifetime.js';
import { createApp } from './http/create-app.js';

const report = (message: string) => console.error(`${new Date().toISOString()} ${message}`);

await ownLifetime(report, async ({ onEnd, end }) => {
  const config = readConfig();
  const engines = await startEngines({ ...config, log: report });
  onEnd(() => engines.stop());
  void engines.failed.then((reason) => {
    report(`the embedded event store ended: ${reason.message}`);
    end(1);
  });
  const parts = await assemble({ ...config, ...engines, report });
  onEnd(() => parts.close());
  const app = await createApp(parts.module, report);
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
