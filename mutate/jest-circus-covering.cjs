const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createEmptyTestResult } = require('@jest/test-result');
const { default: circus } = require('jest-circus/runner');
const { isFound } = require('./found.cjs');

/** Names of the tests in each file, noted while nothing is mutated; the tester's processes share a folder. */
const NAMES = 'test-names.json';

/**
 * Jest's own runner, which leaves out files without a test that reaches the mutant: the tester names tests only, and
 * loading a file costs more than running it. So are files that come after the mutant was found.
 *
 * The tester accepts runners with "jest-circus" in their name.
 */
module.exports = async function run(globalConfig, config, environment, runtime, path, ...more) {
  const names = existsSync(NAMES) ? JSON.parse(readFileSync(NAMES, 'utf8')) : {};
  const { testNamePattern } = globalConfig;
  if (process.env.__STRYKER_ACTIVE_MUTANT__ !== undefined) {
    const wanted = new RegExp(testNamePattern ?? '');
    const isReached = names[path] === undefined || names[path].some((name) => wanted.test(name));
    if (isFound() || !isReached) return leftOut(path);
  }
  const result = await circus(globalConfig, config, environment, runtime, path, ...more);
  if (process.env.__STRYKER_ACTIVE_MUTANT__ === undefined) {
    names[path] = result.testResults.map(({ fullName }) => fullName);
    writeFileSync(NAMES, JSON.stringify(names));
  }
  return result;
};

/** Jest takes a file without any test for a mistake. */
function leftOut(path) {
  const test = {
    status: 'pending',
    title: path,
    fullName: path,
    ancestorTitles: [],
    failureMessages: [],
    failureDetails: [],
  };
  return { ...createEmptyTestResult(), testFilePath: path, numPendingTests: 1, testResults: [test] };
}
