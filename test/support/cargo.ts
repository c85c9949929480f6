/** What `cargo check` prints for one error with a code, as callers send it. `line` moves the error without changing it. */
export function cargoError(code: string, message: string, { file = 'src/lru_cache.rs', line = 12, label = 'here' } = {}): string {
  return [
    '    Checking tessera v0.1.0 (/tmp/work/tessera)',
    `error[${code}]: ${message}`,
    `  --> ${file}:${line}:9`,
    '   |',
    `${line} |     let x = a + b;`,
    `   |             ^ ${label}`,
    '',
    `For more information about this error, try \`rustc --explain ${code}\`.`,
    'error: could not compile `tessera` (lib) due to 1 previous error',
    '',
  ].join('\n');
}

export const traitBound = (line?: number) =>
  cargoError('E0369', 'binary operation `==` cannot be applied to type `K`', { line, label: 'K' });

/** A verifier that ran `cargo check` and failed with this text. */
export function cargoFailed(stderr: string) {
  return { tool: 'cargo', command: 'cargo check', exitCode: 101, stdout: '', stderr, durationMs: 4100 };
}

export const cargoPassed = {
  tool: 'cargo',
  command: 'cargo check',
  exitCode: 0,
  stdout: '',
  stderr: '    Checking tessera v0.1.0\n    Finished `dev` profile in 0.41s\n',
};

export function diffOf(file: string, removed: string, added: string): string {
  return `--- a/${file}\n+++ b/${file}\n@@ -1,1 +1,1 @@\n-${removed}\n+${added}\n`;
}
