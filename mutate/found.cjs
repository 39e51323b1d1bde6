/** The mutant that some test of this process has already found. */
let found;

exports.isFound = () => found !== undefined && found === process.env.__STRYKER_ACTIVE_MUTANT__;

exports.markFound = () => {
  found = process.env.__STRYKER_ACTIVE_MUTANT__;
};
