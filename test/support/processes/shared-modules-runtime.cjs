const asyncHooks = require('node:async_hooks');
const { pathToFileURL } = require('node:url');
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

/** The resolver is the same for all files of a worker. */
function takePackagesForCore(resolver) {
  if (Object.hasOwn(resolver, 'isCoreModule')) return;
  const isCoreModule = resolver.isCoreModule.bind(resolver);
  resolver.isCoreModule = (name) => SHARED.has(sharedName(name)) || isCoreModule(name);
}

/** What files of this worker have loaded so far. */
const shared = { modules: new Map(), commonJs: new Map(), internal: new Map(), sourceMaps: new Map() };
let latest = null;

/**
 * What Jest needs of an AsyncLocalStorage to run one test after the other. Before Node 24 a single real one makes every promise
 * of the process slower.
 */
class SequentialStorage {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const outer = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = outer;
    }
  }
}

/**
 * Loads the packages above once for each worker, the way Jest loads Node's own modules, and the sources and other packages
 * once for each worker in the globals that its files share: loading them for each file took a third of the suite's CPU.
 */
module.exports = class SharedModulesRuntime extends Runtime {
  constructor(config, environment, resolver, ...others) {
    takePackagesForCore(resolver);
    super(config, environment, resolver, ...others);
    const requireCoreModule = this.coreModule.require.bind(this.coreModule);
    this.coreModule.require = (name) => {
      const bare = sharedName(name);
      return requireCoreModule(SHARED.has(bare) ? bare : name);
    };
    const { watch, watchAll } = others.at(-1);
    // In watch mode sources change between two runs of a file.
    if (environment.isShared && !watch && !watchAll) this.shareModules(config.rootDir);
  }

  shareModules(rootDir) {
    this.sources = pathToFileURL(`${rootDir}/src/`).href;
    for (const entry of shared.modules) this.registries.esModuleRegistry.set(...entry);
    for (const entry of shared.commonJs) this.registries.moduleRegistry.set(...entry);
    for (const entry of shared.internal) this.registries.internalModuleRegistry.set(...entry);
    for (const entry of shared.sourceMaps) this.transformCache.sourceMaps.set(...entry);
    // What a shared module imports later is imported by the file that runs then.
    latest = this;
    this.ownImport = this.esmLoader.dynamicImport;
    this.esmLoader.dynamicImport = (...request) => latest.ownImport(...request);
  }

  /** The runtime of the file that runs, for modules that require another one later. */
  newest() {
    return this.sources === undefined ? this : latest;
  }

  requireInternalModule(from, name) {
    if (name === 'node:async_hooks') return { ...asyncHooks, AsyncLocalStorage: SequentialStorage };
    return super.requireInternalModule.call(this.newest(), from, name);
  }

  requireModuleOrMock(...request) {
    return super.requireModuleOrMock.apply(this.newest(), request);
  }

  teardown() {
    if (this.sources !== undefined) this.keepModules();
    super.teardown();
  }

  keepModules() {
    for (const [name, module] of this.registries.esModuleRegistry)
      if (this.isShared(name) && (module instanceof Promise || module.status === 'evaluated'))
        shared.modules.set(name, module);
    for (const [file, module] of this.registries.moduleRegistry)
      if (file.includes('/node_modules/') && module.loaded) shared.commonJs.set(file, module);
    for (const [file, module] of this.registries.internalModuleRegistry)
      if (!file.includes('/jest-circus/') && module.loaded) shared.internal.set(file, module);
    for (const entry of this.transformCache.sourceMaps) shared.sourceMaps.set(...entry);
  }

  /** Not what the tests themselves consist of, and Jest's interface, which belongs to a file. */
  isShared(name) {
    if (!name.startsWith('file:')) return !/^(@jest\/globals|data:)/.test(name);
    return name.startsWith(this.sources) || name.includes('/node_modules/');
  }
};
