import fc from 'fast-check';

/* The same inputs each time, so that a score can be compared; no time for more of them, or for the smallest that fails. */
fc.configureGlobal({
  seed: 1,
  endOnFailure: true,
  interruptAfterTimeLimit: 2_000,
  markInterruptAsFailure: false,
});
