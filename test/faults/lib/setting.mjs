import { setTimeout as sleep } from 'node:timers/promises';
import { endCheck } from '../check/end-check.mjs';
import { databaseOf } from '../check/log-rows.mjs';
import { eventually, processesOf } from './processes.mjs';
import { freePort, Service } from './service.mjs';
import { World } from './world.mjs';

/** A service on its embedded engines with builders at work, for one kind of fault: how they begin, and what must hold at the end. */
export class Setting {
  static async make({ report, directory, dist, seed }, name, { preloads = [], builders = 6 } = {}) {
    const service = new Service({ dist, dataDir: `${directory}/${name}`, port: await freePort(), preloads });
    const world = new World({ repo: name, bases: [service.url], seed });
    return Object.assign(new Setting(), { report, dist, service, world, builders });
  }

  async begin() {
    await this.service.begin();
    this.stopBuilders = this.world.begin(this.builders);
    await this.progress(150);
  }

  /** Until so many more calls were answered. */
  async progress(calls) {
    const { ledger } = this.world;
    const answered = () => ledger.calls.filter(({ state }) => state !== 'unknown').length;
    const from = answered();
    await eventually(() => answered() >= from + calls, `${calls} more calls are answered`, 1_200);
  }

  /** Lets the builders end what they are at, looks at everything, and ends the service. */
  async end() {
    const { report, service, world, dist } = this;
    await this.stopBuilders();
    await sleep(100);
    await endCheck(report, world, { dist, databaseUrl: databaseOf(service.dataDir) });
    const { code } = await service.terminate();
    report.check('it ends with exit code 0', code === 0, `exit code ${code}`);
    report.none('nothing is left running', processesOf(service.dataDir));
  }
}
