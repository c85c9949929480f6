import { readdirSync, readFileSync } from 'node:fs';
import { type EventType, eventSchemas } from '../../src/catalogue/events.js';
import { currentVersion, readEvent } from '../../src/catalogue/versions.js';

/**
 * One event as some Anvil once wrote it, in `golden/<Type>.v<version>[.<variant>].json`. Never edit one: a new shape is a new version with
 * an upcaster and a file of its own. `reads` is what today's code makes of it, where that is no longer the data itself.
 */
interface Golden {
  file: string;
  type: string;
  version: number;
  data: Record<string, unknown>;
  reads?: Record<string, unknown>;
}

const folder = new URL('./golden/', import.meta.url);
const goldens: Golden[] = readdirSync(folder).map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }));
const types = Object.keys(eventSchemas) as EventType[];
const versions = types.flatMap((type) => Array.from({ length: currentVersion(type) }, (_, i) => [type, i + 1] as const));

describe('every version of every event that was ever written', () => {
  it.each(versions)('%s, version %i, has a golden example', (type, version) => {
    expect(goldens.map(({ file }) => file)).toContain(`${type}.v${version}.json`);
  });

  it.each(goldens.map((golden) => [golden.file, golden] as const))('%s reads as it always did', (file, { type, version, data, reads }) => {
    expect(file).toMatch(new RegExp(`^${type}\\.v${version}(\\.[a-z_]+)?\\.json$`));
    const before = structuredClone(data);
    const read = readEvent(type, version, data);
    expect(read).toEqual({ type, data: reads ?? data });
    expect(data).toEqual(before);
  });

  it('is still a version that exists', () => {
    for (const { type, version } of goldens) {
      expect(types).toContain(type);
      expect(version).toBeLessThanOrEqual(currentVersion(type as EventType));
    }
  });
});

describe('every field of an event', () => {
  const newest = goldens.filter(({ type, version }) => version === currentVersion(type as EventType));

  it.each(newest.map((golden) => [golden.file, golden] as const))(
    '%s: none can be left out unseen, none is read that is unknown',
    (_file, { type, version, data }) => {
      for (const field of Object.keys(data)) {
        const { [field]: _without, ...rest } = data;
        expect(() => readEvent(type, version, rest)).toThrow(field);
      }
      expect(() => readEvent(type, version, { ...data, smuggled: 1 })).toThrow('smuggled');
    },
  );
});
