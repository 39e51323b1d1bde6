import type { ConfigFault } from './faults.js';
import { nearest } from './nearest.js';
import type { Surroundings } from './secrets.js';

/** Environment variables by the path of the setting they override. */
export type VariableNames = ReadonlyMap<string, string>;

/** What the names of our variables begin with. */
const OURS = 'TR_';

/** Reads the variables of a custom-environment-variables tree. */
export function variableNames(mapping: unknown, path: readonly string[] = []): VariableNames {
  if (typeof mapping === 'string') return new Map([[path.join('.'), mapping]]);
  if (typeof mapping !== 'object' || mapping === null) return new Map();
  if ('__name' in mapping) return new Map([[path.join('.'), String(mapping.__name)]]);
  return new Map(
    Object.entries(mapping).flatMap(([name, below]) => [...variableNames(below, [...path, name])]),
  );
}

/** Names of the variables that the tree refers to with `${env:NAME}`. */
export function referencedVariables(tree: unknown): string[] {
  const references = JSON.stringify(tree)?.matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g) ?? [];
  return [...references].flatMap(([, name]) => name ?? []);
}

/**
 * A fault for every variable that looks like ours and sets nothing: a misspelt TR_STORE_URL would otherwise mean the default
 * store. Empty variables count as not set.
 */
export function unknownVariables({
  env,
  variables: known,
}: Pick<Surroundings, 'env' | 'variables'>): ConfigFault[] {
  if (known === undefined) return [];
  const unknown = Object.keys(env).filter((name) => name.startsWith(OURS) && env[name] && !known.has(name));
  return unknown.map((name) => {
    const guess = nearest(name, [...known]);
    const advice =
      guess === null ? 'see docs/configuration.md for those there are' : `did you mean ${guess}?`;
    return { path: [], found: `the environment variable ${name}`, expected: `a known variable; ${advice}` };
  });
}
