import fc from 'fast-check';

/* The same inputs in every run, so that scores can be compared; limited in time, and without shrinking. */
fc.configureGlobal({
  seed: 1,
  endOnFailure: true,
  interruptAfterTimeLimit: 2_000,
  markInterruptAsFailure: false,
});
