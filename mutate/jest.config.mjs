import { fileURLToPath } from 'node:url';
import base from '../jest.config.js';

const { globalSetup, maxWorkers, ...config } = base;

/** For the mutation tester, which runs the tests named by `run.mjs` in its own processes, from sources. */
export default {
  ...config,
  rootDir: process.cwd(),
  roots: ['<rootDir>/test'],
  testMatch: process.env.MUTATE_TESTS?.split(',').map((pattern) => `<rootDir>/${pattern}`),
  testEnvironment: fileURLToPath(new URL('first-failure.cjs', import.meta.url)),
  testTimeout: 6_000,
};
