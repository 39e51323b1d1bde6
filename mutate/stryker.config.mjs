/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: process.env.MUTATE_SOURCES?.split(','),
  testRunner: 'jest',
  // For the worker of the index, which each receiver of a test starts.
  testRunnerNodeArgs: ['--import', './scripts/run-typescript.mjs'],
  jest: { configFile: 'mutate/jest.config.mjs', enableFindRelatedTests: true },
  coverageAnalysis: 'perTest',
  // Code that runs once at import is not reset between tests: mutants there prove nothing.
  ignoreStatic: true,
  checkers: [],
  // Stryker would read the project's through an API that TypeScript 7 does not have, and needs none here.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 10,
  tempDirName: '.cache/mutate',
  ignorePatterns: ['mutate/node_modules', 'bench', 'dist', 'k8s', 'deploy', '.ci', '.cache', 'test/browser'],
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  jsonReporter: { fileName: `.cache/mutate-report/${process.env.MUTATE_FOLDER}.json` },
  allowConsoleColors: false,
};
