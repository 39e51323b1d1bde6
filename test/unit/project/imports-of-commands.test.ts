import { existsSync, readFileSync } from 'node:fs';
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

const UNNEEDED_FOR_LINES = [
  'archive',
  'operations/actions',
  'subscribers',
  'recovery/reconcile',
  'speech',
  'ledger/write',
  'lib/memory',
];

/** Folders of src that a command does not load. */
const UNNEEDED: readonly (readonly [command: string, folders: readonly string[]])[] = [
  ['deliveries', UNNEEDED_FOR_LINES],
  ['failures', UNNEEDED_FOR_LINES],
  ['summary', ['subscribers', 'recovery', 'speech', 'operations', 'ledger/write', 'lib/memory']],
  ['transcript', ['subscribers', 'recovery/reconcile', 'speech', 'lib/memory', 'operations/actions']],
  ['quarantine', ['subscribers', 'recovery/reconcile', 'speech', 'lib/memory', 'operations/actions/replay']],
  [
    'status',
    ['subscribers/send', 'subscribers/follow', 'speech/batch', 'ledger/write', 'operations/actions/replay'],
  ],
  [
    'choose',
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'acknowledge',
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'dismiss',
    ['subscribers', 'speech', 'operations/actions/replay', 'operations/actions/import', 'lib/memory'],
  ],
  [
    'erase',
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
    [
      'subscribers/send',
      'subscribers/follow',
      'operations/actions/replay',
      'operations/actions/import',
      'receive',
    ],
  ],
  ['refetch', ['subscribers', 'operations/actions/replay', 'operations/actions/import']],
];

it.each(UNNEEDED)('%s loads nothing that it does not need', (command, folders) => {
  const src = dirname(CLI);
  const loaded = [...loadedBy(join(CLI, `${command}.ts`))].map((file) => file.slice(src.length + 1));
  expect(folders.filter((folder) => !existsSync(join(src, folder)))).toEqual([]);
  expect(loaded.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
});
