import { registerHooks } from 'node:module';
import '../../../scripts/run-typescript.mjs';

const WORKER = new URL('../../../src/index/index-worker.js', import.meta.url).href;
const BUILT = new URL('../../../dist/index-worker.js', import.meta.url).href;

/**
 * `node --import <this file> jest.js`: sources run without a build, except the worker of the index, which Jest's global setup built. Every
 * receiver in a test starts one, and loading it from some thirty sources costs four times the CPU of one file.
 */
registerHooks({
  resolve: (specifier, context, next) => next(specifier === WORKER ? BUILT : specifier, context),
});
