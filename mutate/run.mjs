/**
 * npm run mutate -- <folder of src> [--sample SHARE] [FILE...]
 *
 * Changes the sources of one folder below src, one small change at a time, and counts the changes that no test notices.
 * With files (globs below src/<folder>), only those; with --sample 0.2 in a fifth of the lines, always the same ones: a
 * whole folder takes hours. It runs the tests of the folder and those that drive the whole service
 * in the tester's own process; it cannot see what a test finds by killing or starting another process.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Tests of other folders that reach a folder's code; not those that take long and reach little more. */
const MORE_TESTS = {
  store: ['test/contract/*-store.test.ts'],
  'lib/memory': ['test/unit/archive/@(archive|settling).test.ts'],
  'archive/content': ['test/unit/receive/**/*.test.ts'],
  receive: ['test/acceptance/answers.test.ts'],
  operations: ['test/integration/admin/@(access|reading|repairing|replaying|subscribers).test.ts'],
  recovery: ['test/integration/reconcile/*.test.ts'],
};

/** Each takes many times as long as the others together and notices little that they do not. */
const SLOW = ['foreign-bytes'];

const { values, positionals } = parseArgs({
  options: { sample: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const [folder, ...files] = positionals;
const share = Number(values.sample);
if (folder === undefined || !existsSync(`src/${folder}`) || !(share > 0 && share <= 1)) {
  console.error('usage: npm run mutate -- <folder of src> [--sample SHARE] [FILE...]');
  process.exit(2);
}

const patterns = (files.length > 0 ? files : ['**/*.ts']).map((file) => `src/${folder}/${file}`);
const sources = share < 1 ? globSync(patterns).flatMap(sampleOf) : patterns;
const tests = [`test/unit/${folder}/**/!(${SLOW.join('|')}).test.ts`, ...(MORE_TESTS[folder] ?? [])];
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url));
const { status } = spawnSync(process.execPath, [stryker, 'run', 'mutate/stryker.config.mjs'], {
  stdio: 'inherit',
  env: { ...process.env, MUTATE_FOLDER: folder, MUTATE_SOURCES: sources.join(), MUTATE_TESTS: tests.join() },
});
process.exit(status ?? 1);

/** Blocks of ten lines, chosen by a hash of their place, so that every run takes the same ones. */
function sampleOf(file) {
  const lines = readFileSync(file, 'utf8').split('\n').length;
  const blocks = Array.from({ length: Math.ceil(lines / 10) }, (_, index) => index * 10 + 1);
  const chosen = blocks.filter((first) => {
    const hash = createHash('sha256').update(`${file}:${first}`).digest();
    return hash.readUInt32BE() / 2 ** 32 < share;
  });
  return chosen.map((first) => `${file}:${first}-${first + 9}`);
}
