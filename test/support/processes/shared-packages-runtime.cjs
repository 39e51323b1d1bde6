const asyncHooks = require('node:async_hooks');
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
    const ownAsyncHooks = { ...asyncHooks, AsyncLocalStorage: storagesOf(this) };
    this.coreModule.require = (name) => {
      const bare = sharedName(name);
      return bare === 'async_hooks' ? ownAsyncHooks : requireCoreModule(SHARED.has(bare) ? bare : name);
    };
  }

  /** Jest makes a storage for each file. Before Node 24 every promise passes through all of them, until they are disabled. */
  storages = [];

  teardown() {
    super.teardown();
    for (const storage of this.storages) storage.disable();
  }
};

function storagesOf(runtime) {
  return class extends asyncHooks.AsyncLocalStorage {
    constructor(...options) {
      super(...options);
      runtime.storages.push(this);
    }
  };
}
