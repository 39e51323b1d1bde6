import { ConfigError, type ConfigFault } from '../config-error.js';
import type { Environment } from './environment.js';
import { variableReaders } from './file-formats.js';
import { mergeTrees } from './merge-trees.js';
import type { RuntimeContext } from './resolve-secrets.js';

/** Environment variables by the path of the setting they override. */
export type VariableNames = ReadonlyMap<string, string>;

const FORMATS = `one of ${Object.keys(variableReaders).join(', ')}`;

/** Prefix of the names of our variables. */
const PREFIX = 'TR_';

interface MappedVariable {
  readonly path: readonly string[];
  readonly name: string;
  /** Name of the reader of its text; null for plain text. */
  readonly format: string | null;
}

/** The variables of a custom-environment-variables tree. */
function mappedVariables(mapping: unknown, path: readonly string[] = []): MappedVariable[] {
  if (typeof mapping === 'string') return [{ path, name: mapping, format: null }];
  if (typeof mapping !== 'object' || mapping === null)
    throw new ConfigError([{ path, found: 'a mapping to nothing', expected: 'the name of a variable' }]);
  if ('__name' in mapping) {
    const format = '__format' in mapping ? String(mapping.__format) : null;
    return [{ path, name: String(mapping.__name), format }];
  }
  return Object.entries(mapping).flatMap(([name, below]) => mappedVariables(below, [...path, name]));
}

/** Names of the variables of a custom-environment-variables tree. */
export function variableNames(mapping: unknown): VariableNames {
  return new Map(mappedVariables(mapping).map(({ path, name }) => [path.join('.'), name]));
}

/** The settings that variables give, as a custom-environment-variables tree maps them. Empty variables count as not set. */
export function settingsFromVariables(mapping: unknown, env: Environment): object {
  return mappedVariables(mapping).reduce((settings, variable) => {
    const text = env[variable.name];
    return text ? mergeTrees(settings, treeOf(variable.path, readVariable(variable, text))) : settings;
  }, {});
}

/** A tree with one value in it. */
function treeOf(path: readonly string[], value: unknown): object {
  return path.reduceRight<unknown>((below, name) => ({ [name]: below }), value) as object;
}

function readVariable({ name, format }: MappedVariable, text: string): unknown {
  if (format === null) return text;
  const read = variableReaders[format];
  if (read === undefined)
    throw new ConfigError([{ path: [], found: `the format ${format} of ${name}`, expected: FORMATS }]);
  try {
    return read(text);
  } catch {
    const found = `unreadable text in the environment variable ${name}`;
    throw new ConfigError([{ path: [], found, expected: format }]);
  }
}

/** Names of the variables that the tree refers to with `${env:NAME}`. */
export function referencedVariables(tree: unknown): string[] {
  const references = JSON.stringify(tree)?.matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g) ?? [];
  return [...references].flatMap(([, name]) => name ?? []);
}

/**
 * A fault for every variable with our prefix that sets nothing: with a misspelt TR_STORE_URL the default store would be
 * used. Empty variables count as not set.
 */
export function unknownVariables({
  env,
  variables: known,
}: Pick<RuntimeContext, 'env' | 'variables'>): ConfigFault[] {
  if (known === undefined) return [];
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && env[name] && !known.has(name));
  const expected = 'a known variable; docs/configuration.md lists them';
  return unknown.map((name) => ({ path: [], found: `the environment variable ${name}`, expected }));
}
