/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Environments in which nobody but the developer's own machine is served. */
const HARMLESS = ['development', 'test'];

/** The words node-config picks files by; none given means development. */
export function environmentNames(env: Environment): string[] {
  return (env.NODE_CONFIG_ENV || env.NODE_ENV || 'development').split(',').map((name) => name.trim());
}

/** True unless the environment says otherwise. */
export function isDevelopment(env: Environment = process.env): boolean {
  return !isProduction(env) && environmentNames(env).includes('development');
}

/** Everything that is not development or a test: an environment called staging is as reachable as production. */
export function isProduction(env: Environment = process.env): boolean {
  const names = environmentNames(env);
  return names.includes('production') || !names.some((name) => HARMLESS.includes(name));
}

/** True where nobody watches: build servers set `CI`. */
export function isContinuousIntegration(env: Environment = process.env): boolean {
  return !['', '0', 'false'].includes(env.CI ?? '');
}
