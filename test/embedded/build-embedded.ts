import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Compiles the embedded PostgreSQL into a folder, for a Node process of its own that a test can kill. `packages`: what it finds in node_modules. */
export async function buildEmbedded(folder: string, packages?: string[]): Promise<void> {
  const source = join(repository, 'src/embedded');
  await mkdir(folder, { recursive: true });
  for (const name of (await readdir(source)).filter((file) => /^(postgres|data-dir-lock).*\.ts$/.test(file))) {
    const { code } = await transformFile(join(source, name), {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    await writeFile(join(folder, name.replace(/\.ts$/, '.js')), code);
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const modules = join(repository, 'node_modules');
  if (!packages) return symlink(modules, join(folder, 'node_modules'));
  await mkdir(join(folder, 'node_modules'));
  for (const name of packages) await symlink(join(modules, name), join(folder, 'node_modules', name));
}
