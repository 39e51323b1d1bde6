import { createRequire } from 'node:module';

/** Preloaded into the receiver by bench/call-path.mjs: prints the calls that lead to the first PUT of an artefact. */

const { Pool } = createRequire(import.meta.url)('undici');
Error.stackTraceLimit = 100;
const { dispatch } = Pool.prototype;
let isPrinted = false;

Pool.prototype.dispatch = function (options, handler) {
  if (!isPrinted && options.method === 'PUT' && options.path.includes('/jobs/')) {
    isPrinted = true;
    console.log(JSON.stringify({ calls: new Error().stack.split('\n').slice(2).reverse() }));
  }
  return dispatch.call(this, options, handler);
};
