import { availableParallelism } from 'node:os';

// Express takes the promises of a test for foreign ones, because they are made with other globals.
process.env.NO_DEPRECATION = 'router';

const DEFAULT = ['test/unit', 'test/contract', 'test/integration', 'test/acceptance'];
/** They need a server, a browser, Debian packages, or a machine for themselves. */
const ONE_BY_ONE = ['test/strain', 'test/s3', 'test/browser', 'test/platform'];

/** A path on the command line picks its folder: `npm test -- test/s3/probe.test.ts`. */
const named = [...DEFAULT, 'test/model', ...ONE_BY_ONE].filter((folder) =>
  process.argv.some((text) => text.includes(folder)),
);

/** Published as ES modules only, which Jest turns into CommonJS as it does with ours. */
const ES_MODULES = ['commander', 'jose', 'p-limit', 'yocto-queue'];

export default {
  roots: (named.length > 0 ? named : DEFAULT).map((folder) => `<rootDir>/${folder}`),
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/processes/build-first.mjs',
  testSequencer: '<rootDir>/test/support/processes/wait-beside-work.mjs',
  // More than half of a run is spent waiting for processes and time-outs: five workers keep two cores busy, four do not.
  // Files that need something of the machine besides run two at a time in their own commands, those that load it one after the other.
  maxWorkers: ONE_BY_ONE.some((folder) => named.includes(folder))
    ? 1
    : Math.ceil(availableParallelism() * 2.5),
  // Milliseconds. A worker that has ended still returns its memory to the system, which takes longer than Jest's 500 ms on a busy machine.
  workerGracefulExitTimeout: 10_000,
  // `it.concurrent` is for tests that wait for intervals and time-outs, and use little of the machine meanwhile.
  maxConcurrency: 20,
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'] },
  transform: {
    '^.+\\.(ts|m?js)$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES.join('|')})/)`],
  // Tests import what they use of Jest. With globals Jest makes an object `jest` for each module of each file, a tenth of a unit test's CPU.
  injectGlobals: false,
  // What a file leaves behind ends with its worker; looking for it after each file took a twentieth of the suite's CPU.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  // Reached only by a test that hangs: a busy machine takes ten times as long as a quiet one.
  testTimeout: 180_000,
};
