import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, parseJson } from '../lib/text/parse-json.js';
import { ConfigError, type ConfigFault } from './config-error.js';
import { type Environment, environmentNames } from './load/environment.js';
import { fileReaders } from './load/file-formats.js';
import { mergeTrees } from './load/merge-trees.js';
import { referencedVariables, settingsFromVariables, variableNames } from './load/variables.js';

/** The package's own `config/`: two folders up, from src/config as well as from dist/chunks, where the bundle puts this file. */
const PACKAGE_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));

interface LoadedSettings {
  /** Settings as written. */
  readonly tree: unknown;
  /** Names of the environment variables that are mapped to settings or referenced by a text of the tree. */
  readonly variables: ReadonlySet<string>;
  /** Files, folders and variables that could not be read, and are left out of the tree. */
  readonly unread: readonly ConfigFault[];
}

/**
 * Reads the tree of settings, as written. Later wins, maps are merged, lists are replaced: the package's `config/` (egress, default, then
 * the environment's file and local ones), the folders in NODE_CONFIG_DIR in the same way, NODE_CONFIG, and the variables of
 * custom-environment-variables.yaml. Names of files and variables are those of node-config.
 */
export function loadSettings(env: Environment): LoadedSettings {
  const unread: ConfigFault[] = [];
  const attempt = <T>(read: () => T, instead: T) => readOr(read, instead, unread);
  const own = operatorFolders(env).filter((folder) => attempt(() => rejectWithoutFiles(folder, env), false));
  const folders = [PACKAGE_FOLDER, ...own.map((folder) => path.resolve(folder))];
  const read = (folder: string, name: string) => attempt(() => readFile(folder, name), {});
  const files = folders.flatMap((folder) => fileNames(env).map((name) => read(folder, name)));
  const mappings = folders.map((folder) => read(folder, 'custom-environment-variables'));
  const nodeConfig = attempt(() => nodeConfigVariable(env), {});
  const variables = mappings.map((mapping) => attempt(() => settingsFromVariables(mapping, env), {}));
  const tree = [...files, nodeConfig, ...variables].reduce(mergeTrees, {});
  const mapped = mappings.flatMap((mapping) => attempt(() => [...variableNames(mapping).values()], []));
  return { tree, variables: new Set([...mapped, ...referencedVariables(tree)]), unread };
}

/** Collects the faults of unreadable files and variables, so that all are reported at once. */
function readOr<T>(read: () => T, instead: T, unread: ConfigFault[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    unread.push(...error.faults);
    return instead;
  }
}

/** Base names of the files of a folder, in the order in which they are merged. */
function fileNames(env: Environment): string[] {
  const names = environmentNames(env);
  return ['egress', 'default', ...names, 'local', ...names.map((name) => `local-${name}`)];
}

/** The content of the file with this base name, in whichever format; empty when there is none. */
function readFile(folder: string, baseName: string): object {
  const found = Object.entries(fileReaders).map(([extension, read]) =>
    readIfThere(folder, `${baseName}.${extension}`, read),
  );
  return found.reduce(mergeTrees, {});
}

function readIfThere(folder: string, name: string, read: (text: string) => unknown): object {
  try {
    const content = read(readFileSync(path.join(folder, name), 'utf8').replace(/^\uFEFF/, '')) ?? {};
    if (isJsonObject(content)) return content;
    throw new Error('not a map of settings');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    const detail = error instanceof Error ? error.message : 'unreadable';
    const found = `a file in ${folder} that cannot be read (${name}: ${detail})`;
    throw new ConfigError([{ path: [], found, expected: 'YAML or JSON' }]);
  }
}

function operatorFolders(env: Environment): string[] {
  return (env.NODE_CONFIG_DIR ?? '').split(path.delimiter).filter((folder) => folder !== '');
}

/** Throws when an operator named a folder that has no configuration file. */
function rejectWithoutFiles(folder: string, env: Environment): true {
  if (holdsConfigFiles(path.resolve(folder), env)) return true;
  const expected = `a readable folder with a file such as default.yaml (${Object.keys(fileReaders).join(', ')})`;
  throw new ConfigError([{ path: [], found: `NODE_CONFIG_DIR ${folder}`, expected }]);
}

function holdsConfigFiles(folder: string, env: Environment): boolean {
  const names = [...fileNames(env), 'custom-environment-variables'];
  try {
    return readdirSync(folder).some((file) => {
      const { name, ext } = path.parse(file);
      return names.includes(name) && Object.hasOwn(fileReaders, ext.slice(1));
    });
  } catch {
    return false;
  }
}

/** NODE_CONFIG as a tree. The fault of malformed text does not show the text, which may hold secrets. */
function nodeConfigVariable(env: Environment): object {
  if (!env.NODE_CONFIG) return {};
  const tree = parseJson(env.NODE_CONFIG);
  if (isJsonObject(tree)) return tree;
  throw new ConfigError([{ path: [], found: 'unreadable text in NODE_CONFIG', expected: 'a JSON object' }]);
}
