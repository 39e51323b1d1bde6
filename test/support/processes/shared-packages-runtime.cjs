const { default: Runtime } = require('jest-runtime');

/** Packages without state that a test could change; each file would otherwise compile them anew, half a second of CPU. */
const SHARED = new Set([
  '@smithy/signature-v4',
  'ajv/dist/2020.js',
  'commander',
  'express',
  'fast-check',
  'helmet',
  'hyparquet',
  'hyparquet-writer',
  'ip-range-check',
  'jose',
  'pino',
  'playwright-core',
  'prom-client',
  'ulid',
  'undici',
  'ws',
  'yaml',
  'zod',
]);

/** Node 24 loads synchronously, and names everything that counts as its own `node:...`. */
const sharedName = (name) => name.replace(/^node:/, '');

/** Loads the packages above once for each worker, the way Jest loads Node's own modules. */
module.exports = class SharedPackagesRuntime extends Runtime {
  constructor(config, environment, resolver, ...others) {
    const isCoreModule = resolver.isCoreModule.bind(resolver);
    resolver.isCoreModule = (name) => SHARED.has(sharedName(name)) || isCoreModule(name);
    super(config, environment, resolver, ...others);
    const requireCoreModule = this.coreModule.require.bind(this.coreModule);
    this.coreModule.require = (name) =>
      requireCoreModule(SHARED.has(sharedName(name)) ? sharedName(name) : name);
  }
};
