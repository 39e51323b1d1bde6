/**
 * npm run mutate -- <folder of src> [FILE...]
 *
 * Changes the sources of one folder below src, one small change at a time, and counts the changes that no test notices.
 * With files (globs below src/<folder>), only those. It runs the tests of the folder and those that drive the whole service
 * in the tester's own process; it cannot see what a test finds by killing or starting another process.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Tests of other folders that reach a folder's code; not those that take long and reach little more. */
const MORE_TESTS = {
  store: ['test/contract/*-store.test.ts'],
  memory: ['test/unit/archive/{archive,settling}.test.ts'],
  content: ['test/unit/receiver/**/*.test.ts'],
  receiver: ['test/acceptance/heads.test.ts'],
  recovery: ['test/integration/recovery/*.test.ts'],
  repair: ['test/integration/admin/*.test.ts'],
};

/** Each takes many times as long as the others together and notices little that they do not. */
const SLOW = ['foreign-bytes', 'conflicts-at-once', 'erasure', 'memory-fairness'];

const [folder, ...files] = process.argv.slice(2);
if (folder === undefined || !existsSync(`src/${folder}`)) {
  console.error('usage: npm run mutate -- <folder of src> [FILE...]');
  process.exit(2);
}

const sources = (files.length > 0 ? files : ['**/*.ts']).map((file) => `src/${folder}/${file}`);
const tests = [`test/unit/${folder}/**/!(${SLOW.join('|')}).test.ts`, ...(MORE_TESTS[folder] ?? [])];
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url));
const { status } = spawnSync(process.execPath, [stryker, 'run', 'mutate/stryker.config.mjs'], {
  stdio: 'inherit',
  env: { ...process.env, MUTATE_FOLDER: folder, MUTATE_SOURCES: sources.join(), MUTATE_TESTS: tests.join() },
});
process.exit(status ?? 1);
