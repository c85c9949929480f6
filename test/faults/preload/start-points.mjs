import childProcess from 'node:child_process';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { pass, wrap } from './pass.mjs';

// The making of a cluster is functions, not classes; what they ask of Node is wrapped instead.
wrap(childProcess, 'spawn', (spawn) => (file, ...rest) => {
  const child = spawn(file, ...rest);
  if (basename(file) === 'initdb')
    child.stdout.on('data', (text) => {
      if (String(text).includes('bootstrap script')) pass('initdb: cluster half made');
    });
  return child;
});

wrap(files, 'rename', (rename) => async (from, to) => {
  const cluster = basename(String(to)) === 'postgres';
  if (cluster) pass('ensureCluster: made, not renamed');
  await rename(from, to);
  if (cluster) pass('ensureCluster: renamed, never started');
});

syncBuiltinESMExports();
