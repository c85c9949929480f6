import type { RecordedVerifier } from '../catalogue/commands.js';
import type { Payloads } from './payloads.js';

type Run = Omit<RecordedVerifier, 'steps' | 'tool' | 'durationMs'>;

/** What a verifier said, as an event keeps it, with its texts whole. */
export async function loadVerifier(verifier: RecordedVerifier, payloads: Payloads) {
  const run = async ({ stdout, stderr, output, ...rest }: Run) => ({
    ...rest,
    stdout: await payloads.loadOptional(stdout),
    stderr: await payloads.loadOptional(stderr),
    output: await payloads.loadOptional(output),
  });
  const { steps, tool, durationMs, ...whole } = verifier;
  return { tool, durationMs, ...(await run(whole)), steps: await Promise.all(steps.map(run)) };
}
