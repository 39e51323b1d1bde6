import { existsSync } from 'node:fs';

/** Suites are folders of test/: the default run needs nothing but npm; `s3` and `browser` have their own scripts. */
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
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  testTimeout: 30_000,
};
