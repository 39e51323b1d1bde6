/**
 * A Jest transformer: the module is loaded by Node, once for all test files of a worker, instead of by Jest for each of them. It is for
 * what the tests do not change: what the compiler made of the sources, and libraries.
 */
const LOAD =
  "module.exports = process.getBuiltinModule('node:module').createRequire(__filename)(__filename);";

export default {
  process: () => ({ code: LOAD }),
  getCacheKey: () => LOAD,
};
