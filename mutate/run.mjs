/**
 * npm run mutate -- <archive|store|receiver|recovery> [FILE...]
 *
 * Changes the sources of one folder below src, one small change at a time, and counts how many changes no test notices.
 * With files (globs below src/<folder>), only those. The tests are those that run in the tester's own process: what a
 * killed or a second process shows, it cannot see.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TESTS = {
  archive: ['test/unit/archive/**/!(foreign-bytes).test.ts'],
  store: ['test/unit/store/**/*.test.ts', 'test/contract/*-store.test.ts'],
  receiver: [
    'test/unit/receiver/**/*.test.ts',
    'test/acceptance/answers.test.ts',
    'test/acceptance/connection.test.ts',
  ],
  recovery: ['test/unit/recovery/*.test.ts', 'test/integration/recovery/*.test.ts'],
};

const [folder, ...files] = process.argv.slice(2);
const tests = TESTS[folder];
if (tests === undefined) {
  console.error(`usage: npm run mutate -- <${Object.keys(TESTS).join('|')}> [FILE...]`);
  process.exit(2);
}

const sources = (files.length > 0 ? files : ['**/*.ts']).map((file) => `src/${folder}/${file}`);
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url));
const { status } = spawnSync(process.execPath, [stryker, 'run', 'mutate/stryker.config.mjs'], {
  stdio: 'inherit',
  env: { ...process.env, MUTATE_FOLDER: folder, MUTATE_SOURCES: sources.join(), MUTATE_TESTS: tests.join() },
});
process.exit(status ?? 1);
