import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = path('../support/processes/executed-files.mjs');
const SOURCES = path('../../scripts/run-typescript.mjs');

/** What a reader of the way of a callback has to know: V8's coverage of a receiver that runs from its sources. */
it.each([
  ['a transcript as JSON', 'json', 89],
  ['a form with a transcript and its jobinfo', 'form', 96],
])('%s executes functions of few files', async (_, kind, most) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', SOURCES, PROGRAM, kind]);
  const files: string[] = JSON.parse(stdout);
  expect(files).toContain('receive/receive.ts');
  // Those beyond the bound, with all the others to choose from.
  expect(files.length > most ? files : []).toEqual([]);
});
