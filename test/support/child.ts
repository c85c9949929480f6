import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { Api } from './api.js';
import { makeFolder } from './folder.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** The service as a process of its own, with its own embedded stores, which can be killed at any moment and started again on its data. */
export class ChildService {
  private child: ChildProcess | null = null;
  url = '';

  private constructor(
    private readonly code: string,
    private readonly dataDir: string,
    private readonly servers: Record<string, string>,
  ) {}

  /** `servers`: those of another service, in place of its own embedded ones. */
  static async start(servers: { EVENTSTORE_URL?: string; DATABASE_URL?: string } = {}): Promise<ChildService> {
    const service = new ChildService(await compile(), await makeFolder('anvil-child'), servers);
    await service.begin();
    return service;
  }

  get api(): Api {
    return new Api(this.url);
  }

  async begin(): Promise<void> {
    const env = {
      ...process.env,
      ANVIL_PORT: '0',
      ANVIL_DATA_DIR: this.dataDir,
      ANVIL_LOG_LEVEL: 'error',
      EVENTSTORE_URL: '',
      DATABASE_URL: '',
      ...this.servers,
    };
    const child = spawn(process.execPath, [join(this.code, 'src/main.js')], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const url = /Anvil answers on (\S+)/.exec(said)?.[1];
        if (url) resolve(url);
      });
      child.once('exit', (code) => reject(new Error(`ended with ${code} before it answered`)));
    });
  }

  /** SIGKILL: nothing is said or put in order before the end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  async end(): Promise<void> {
    await this.kill('SIGTERM');
    await rm(this.dataDir, { recursive: true, force: true });
    await rm(this.code, { recursive: true, force: true });
  }
}

async function compile(): Promise<string> {
  const folder = await makeFolder('anvil-code');
  const files = await Promise.all(['src', 'projections'].map((name) => readdir(join(repository, name), { recursive: true })));
  const paths = files.flatMap((names, i) =>
    names.filter((name) => name.endsWith('.ts')).map((name) => join(repository, ['src', 'projections'][i]!, name)),
  );
  for (const path of paths) {
    const { code } = await transformFile(path, {
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
      },
      module: { type: 'es6' },
    });
    const target = join(folder, relative(repository, path).replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
