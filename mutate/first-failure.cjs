const { TestEnvironment } = require('jest-environment-node');
const { isFound, markFound } = require('./found.cjs');

/** Skips what is left once a test has found the mutant: a mutant that hangs costs one time-out then, not one per test. */
module.exports = class FirstFailure extends TestEnvironment {
  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') markFound();
    if (name === 'test_start' && isFound()) test.mode = 'skip';
  }
};
