const { TestEnvironment } = require('jest-environment-node');

/** The globals of Jest's own environment; the next file finds them as the first one did. */
class SharedEnvironment extends TestEnvironment {
  isShared = true;
  names = new Set(Reflect.ownKeys(this.global));
  variables = { ...this.global.process.env };

  constructor(...options) {
    super(...options);
    // Jest's 100 are captured by every expect().
    this.global.Error.stackTraceLimit = 20;
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    for (const name of Reflect.ownKeys(this.global))
      if (!this.names.has(name)) Reflect.deleteProperty(this.global, name);
    // Jest would clear it with the globals: it holds everything that the file has put there.
    this._globalProxy.leftovers = [];
    const { env } = this.global.process;
    for (const name of Object.keys(env)) if (!(name in this.variables)) delete env[name];
    Object.assign(env, this.variables);
  }
}

let environment = null;

/** The same for all test files of a worker, so that they can share modules. */
module.exports = function sharedEnvironment(...options) {
  environment ??= new SharedEnvironment(...options);
  return environment;
};
