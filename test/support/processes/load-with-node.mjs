/**
 * A Jest transformer: Node loads the module, once for all test files of a worker, instead of Jest for each of them.
 */
const LOAD = 'module.exports = requireWithNode(__filename);';

export default {
  process: () => ({ code: LOAD }),
  getCacheKey: () => LOAD,
};
