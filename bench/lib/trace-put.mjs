import { subscribe } from 'node:diagnostics_channel';

/** Preloaded into the receiver by bench/call-path.mjs: prints the calls that lead to the first PUT of an artefact. */

Error.stackTraceLimit = 100;
let isPrinted = false;

subscribe('undici:request:create', ({ request }) => {
  if (isPrinted || request.method !== 'PUT' || !request.path.includes('/jobs/')) return;
  isPrinted = true;
  console.log(JSON.stringify({ calls: new Error().stack.split('\n').slice(2).reverse() }));
});
