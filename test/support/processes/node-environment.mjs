import { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

/** Jest's environment, and `requireWithNode` for what `load-with-node.mjs` hands to Node. */
export default class NodeEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.requireWithNode = createRequire(import.meta.url);
  }
}
