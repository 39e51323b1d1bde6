import { registerHooks } from 'node:module';
import '../../../scripts/run-typescript.mjs';

const SOURCES = new URL('../../../src/', import.meta.url).href;
const BUILT = new URL('../../../dist/', import.meta.url).href;

/**
 * `node --import <this file> program.ts`: Node loads what the compiler made of the sources, which Jest's global setup built. That is the
 * worker of the index for Jest, whose every receiver starts one, and all of src for a program of the tests: stripping the types at each
 * start costs more than the rest of loading.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!/^(?:\.|file:).*\.js$/.test(specifier)) return next(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    return next(href.startsWith(SOURCES) ? BUILT + href.slice(SOURCES.length) : specifier, context);
  },
});
