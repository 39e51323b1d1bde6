import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

// The npm scripts pass it on the command line: in NODE_OPTIONS it would reach every process that a test starts.
if (![...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes('--experimental-vm-modules')) {
  throw new Error('Jest needs --experimental-vm-modules: run "npm test -- <file>" instead of jest itself.');
}

// Node 20 is supported as long as its SDK is; the SDK's advice to move on is none of the tests' business.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Suites are folders of test/: the default run needs nothing but npm; the others have npm scripts of their own. */
const suite = process.env.SUITE ?? 'default';
const roots = {
  default: [
    '<rootDir>/test/unit',
    '<rootDir>/test/contract',
    '<rootDir>/test/integration',
    '<rootDir>/test/acceptance',
  ],
  s3: ['<rootDir>/test/s3'],
  browser: ['<rootDir>/test/browser'],
  platform: ['<rootDir>/test/platform'],
}[suite].filter((root) => existsSync(root.replace('<rootDir>', import.meta.dirname)));

export default {
  roots,
  testEnvironment: 'node',
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/processes/build-first.mjs',
  // Half of a run is spent waiting for processes and time-outs, so one worker more than cores keeps the cores busy.
  maxWorkers: availableParallelism() + 1,
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  // Only ever reached by what hangs: a busy machine takes several times as long as a quiet one.
  testTimeout: 90_000,
};
