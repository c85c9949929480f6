import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 400;

/** Imports evidence into files of its own, one import at a time, each repeated until the service says that it is in the log. */
export function sendEvidence(service, world, uuidOf = deterministicId) {
  let stopping = false;
  const working = (async () => {
    for (let number = 1; !stopping; number += 1) {
      const unique = `import${number}`;
      const file = { repo: world.repo, targetFile: `imported/file_${number}.rs` };
      world.ledger.files.set(`${file.repo}\0${file.targetFile}`, file);
      while (!stopping) {
        try {
          await service.tell({ evidence: { ...file, unique, code: 'E0369', attempts: 3 } });
          world.ledger.evidence.push({ file, causation: uuidOf('imported', unique) });
          break;
        } catch {
          await sleep(EVERY_MS / 4);
        }
      }
      // Most of the time the saga has something to do, whatever else is struck.
      await sleep(world.load === 'evidence' ? EVERY_MS / 4 : EVERY_MS * 4);
    }
  })();
  return {
    async stop() {
      stopping = true;
      await working;
    },
  };
}

/** The id that the service makes of the same names (RFC 9562 version 8, from SHA-256), said once more here. */
function deterministicId(...names) {
  const hex = createHash('sha256').update(names.join('\0'), 'utf8').digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
