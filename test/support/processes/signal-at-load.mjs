import { register } from 'node:module';

/*
 * For `node --import`: sends this process the signal named by SIGNAL_AT_LOAD when it begins to load the receiver,
 * and keeps it from finishing. So the test does not depend on the machine's speed.
 */
const hooks = `
  export async function load(url, context, next) {
    if (!url.includes('/chunks/serve-')) return next(url, context);
    process.kill(process.pid, '${process.env.SIGNAL_AT_LOAD}');
    return new Promise(() => {});
  }`;
// Without work the process would end by itself, before the signal is handled.
setInterval(() => {}, 60_000);
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
