import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';

const CLI = join(import.meta.dirname, '../../../src/cli');
const IMPORT = /^(?:import|export) (?!type )[^'";]*?from '(\.[^']+)\.js';/gms;

/** Files that a file of src loads when it is loaded, itself included. */
function loadedBy(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT))
    loadedBy(join(dirname(file), `${path}.ts`), known);
  return known;
}

it.each([['deliveries.ts'], ['failures.ts']])(
  '%s, which only asks what the ledger says, loads nothing that writes, sends or repairs',
  (command) => {
    const loaded = [...loadedBy(join(CLI, command))];
    expect(loaded.length).toBeLessThanOrEqual(120);
    expect(loaded.filter((path) => /\/src\/(archive|operator|subscribers|reconcile)\//.test(path))).toEqual(
      [],
    );
  },
);
