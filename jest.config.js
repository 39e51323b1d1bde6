import { availableParallelism } from 'node:os';

// The npm scripts pass the option on the command line: in NODE_OPTIONS it would reach every process that a test starts.
if (![...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--experimental-vm-modules')) {
  throw new Error('Jest needs --experimental-vm-modules: run "npm test -- <file>" instead of jest itself.');
}

// The AWS SDK warns that its later releases will not support Node 20, which concerns upgrades of the SDK only.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
// Express takes the promises of a test for foreign ones, because they are made with other globals.
process.env.NO_DEPRECATION = 'router';

/** The default run needs nothing but npm; the other folders need a server, a browser or Debian packages. */
const DEFAULT = ['test/unit', 'test/contract', 'test/integration', 'test/acceptance'];
const OTHERS = ['test/s3', 'test/browser', 'test/platform'];

/** A path on the command line picks its folder: `npm test -- test/s3/probe.test.ts`. */
const named = [...DEFAULT, ...OTHERS].filter((folder) => process.argv.some((text) => text.includes(folder)));

export default {
  roots: (named.length > 0 ? named : DEFAULT).map((folder) => `<rootDir>/${folder}`),
  testEnvironment: '<rootDir>/test/support/processes/shared-environment.cjs',
  runtime: '<rootDir>/test/support/processes/shared-modules-runtime.cjs',
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/processes/build-first.mjs',
  testSequencer: '<rootDir>/test/support/processes/slow-folders-first.mjs',
  // Half of a run is spent waiting for processes and time-outs, so two workers for each core keep the cores busy.
  // The other folders share one server, browser or network, so their files run one after the other.
  maxWorkers: OTHERS.some((folder) => named.includes(folder)) ? 1 : availableParallelism() * 2,
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  // Reached only by a test that hangs: a busy machine takes several times as long as a quiet one.
  testTimeout: 90_000,
};
