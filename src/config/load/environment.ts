import { join } from 'node:path';
import { type ProxySettings, readProxySettings } from '../../lib/outbound/proxy-settings.js';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Environments that run only on a developer's machine. */
const LOCAL_ENVIRONMENTS = ['development', 'test'];

/** Names of the environments, which select the configuration files. Default: development. */
export function environmentNames(env: Environment): string[] {
  return (env.NODE_CONFIG_ENV || env.NODE_ENV || 'development').split(',').map((name) => name.trim());
}

/** True by default. */
export function isDevelopment(): boolean {
  return !isProduction() && environmentNames(process.env).includes('development');
}

/** True for every environment except development and test: one called staging is as reachable as production. */
export function isProduction(env: Environment = process.env): boolean {
  const names = environmentNames(env);
  return names.includes('production') || !names.some((name) => LOCAL_ENVIRONMENTS.includes(name));
}

/** Cache directory: the one that systemd provides, else the user's; null without either. */
export function cacheFolder(): string | null {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, HOME } = process.env;
  if (CACHE_DIRECTORY) return CACHE_DIRECTORY.split(':')[0] ?? null;
  const folder = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : '');
  return folder === '' ? null : join(folder, 'transcript-receiver');
}

/** The file of certificate authorities that every AWS client uses, as `AWS_CA_BUNDLE` names it; null without one. */
export function caBundle(): string | null {
  return process.env.AWS_CA_BUNDLE || null;
}

/** The proxies for outgoing connections. */
export function proxies(): ProxySettings {
  return readProxySettings(process.env);
}
