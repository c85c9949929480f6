import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end, without blocking: the service that it calls lives in this process. */
export async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(command, args, { cwd: repository, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}
