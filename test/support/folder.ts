import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder of a test's own below the temporary directory, open to everybody: run by root, the embedded PostgreSQL is another user, and where that
 * one may not enter, its data lies outside the folder and would outlive the test.
 */
export async function makeFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  await chmod(folder, 0o755);
  return folder;
}
