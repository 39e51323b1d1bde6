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

/** Folders of src that a command does not load, and how many files it loads at most. */
const BOUNDS: readonly (readonly [command: string, files: number, without: readonly string[]])[] = [
  [
    'deliveries',
    120,
    ['archive', 'operator', 'subscribers', 'recovery/reconcile', 'speech', 'ledger/write', 'lib/memory'],
  ],
  [
    'failures',
    120,
    ['archive', 'operator', 'subscribers', 'recovery/reconcile', 'speech', 'ledger/write', 'lib/memory'],
  ],
  [
    'transcript',
    120,
    [
      'index',
      'subscribers',
      'recovery/reconcile',
      'speech',
      'ledger/log',
      'lib/memory',
      'operations/actions',
    ],
  ],
  [
    'quarantine',
    110,
    [
      'index',
      'subscribers',
      'recovery/reconcile',
      'speech',
      'ledger/log',
      'lib/memory',
      'operations/actions/replay',
    ],
  ],
  [
    'subscribers',
    135,
    ['subscribers/send', 'recovery/reconcile', 'speech', 'lib/memory', 'ledger/write', 'operations/actions'],
  ],
  [
    'status',
    175,
    ['subscribers/send', 'subscribers/follow', 'speech/batch', 'ledger/write', 'operations/actions/replay'],
  ],
  [
    'choose',
    145,
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'acknowledge',
    150,
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'dismiss',
    150,
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'erase',
    160,
    [
      'subscribers/send',
      'recovery/reconcile',
      'speech',
      'operations/actions/replay',
      'operations/actions/import',
      'lib/memory',
    ],
  ],
  [
    'job',
    225,
    [
      'subscribers/send',
      'subscribers/follow',
      'operations/actions/replay',
      'operations/actions/import',
      'receive',
    ],
  ],
  ['refetch', 226, ['subscribers', 'operations/actions/replay', 'operations/actions/import']],
];

it.each(BOUNDS)('%s loads at most %i files, and nothing that it does not need', (command, files, without) => {
  const loaded = [...loadedBy(join(CLI, `${command}.ts`))].map((file) => file.slice(dirname(CLI).length + 1));
  expect(loaded.length).toBeLessThanOrEqual(files);
  expect(loaded.filter((file) => without.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
});
