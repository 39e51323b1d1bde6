import { fileURLToPath } from 'node:url';
import base from '../jest.config.js';

const { globalSetup, maxWorkers, ...config } = base;

/** For the mutation tester, which runs the tests named by `run.mjs` in its own processes, from sources. */
export default {
  ...config,
  rootDir: process.cwd(),
  // Tests are found by what they import, so the sources have to be among the files that Jest knows.
  roots: ['<rootDir>/test', '<rootDir>/src'],
  testMatch: process.env.MUTATE_TESTS?.split(',').map((pattern) => `<rootDir>/${pattern}`),
  setupFilesAfterEnv: [fileURLToPath(new URL('bounded-properties.mjs', import.meta.url))],
};
