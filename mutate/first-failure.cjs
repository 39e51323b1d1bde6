const { TestEnvironment } = require('jest-environment-node');

/** The mutant that some test has already found. */
let found;

/** Skips what is left once a test has found the mutant: a mutant that hangs costs one time-out then, not one per test. */
module.exports = class FirstFailure extends TestEnvironment {
  handleTestEvent({ name, test }) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant === undefined) return;
    if (name === 'test_fn_failure' || name === 'hook_failure') found = mutant;
    if (name === 'test_start' && found === mutant) test.mode = 'skip';
  }
};
