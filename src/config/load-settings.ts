import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Load, type LoadOptions, Util } from 'config/lib/util.js';
import { isJsonObject, parseJson } from '../lib/text/parse-json.js';
import { ConfigError } from './config-error.js';
import { configParser, FILE_FORMATS } from './load/config-parser.js';
import { type Environment, environmentNames } from './load/environment.js';
import { referencedVariables, settingsFromVariables, variableNames } from './load/variables.js';

/** The package's own `config/`: two folders up, from src/config as well as from dist/chunks, where the bundle puts this file. */
const PACKAGE_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));

export interface LoadedSettings {
  /** As written. */
  readonly tree: unknown;
  /** Names of the environment variables that are mapped to settings or referenced by a text of the tree. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Reads the tree of settings through node-config, as written. Later wins, maps are merged, lists are replaced:
 * the package's `config/` (default, then the environment's file and the others node-config knows), the folders
 * in NODE_CONFIG_DIR in the same way, NODE_CONFIG, and the variables of custom-environment-variables.yaml.
 *
 * node-config's singleton would sort the files of all folders by kind, so that the package's development.yaml
 * overrode the operator's default.yaml; its loader is therefore run once per folder.
 */
export function loadSettings(env: Environment): LoadedSettings {
  const options: LoadOptions = {
    nodeEnv: environmentNames(env),
    hostName: env.HOST || env.HOSTNAME || os.hostname(),
    appInstance: env.NODE_APP_INSTANCE || undefined,
    parser: configParser as never,
  };
  const folders = [PACKAGE_FOLDER, ...operatorFolders(env)];
  const tree = {};
  for (const folder of folders) Util.extendDeep(tree, ...readFolder(folder, options));
  const mappings = folders.map((folder) => readFile(folder, 'custom-environment-variables', options));
  Util.extendDeep(tree, nodeConfigVariable(env), ...mappings.map((each) => settingsFromVariables(each, env)));
  const mapped = mappings.flatMap((mapping) => [...variableNames(mapping).values()]);
  return { tree, variables: new Set([...mapped, ...referencedVariables(tree)]) };
}

/** The trees of a folder's files, in the order in which they are merged. */
function readFolder(folder: string, options: LoadOptions): object[] {
  const load = reporting(folder, () => Util.loadFileConfigs({ ...options, configDir: folder }));
  return [readFile(folder, 'egress', options), load.config];
}

/** The content of the file with this base name, in whichever format; empty when there is none. */
function readFile(folder: string, baseName: string, options: LoadOptions): object {
  const load = new Load(options);
  for (const extension of FILE_FORMATS) {
    reporting(folder, () => load.loadFile(path.join(folder, `${baseName}.${extension}`)));
  }
  return load.config;
}

/** node-config ignores a folder that does not exist; here it is a fault, because an operator named it. */
function operatorFolders(env: Environment): string[] {
  const folders = (env.NODE_CONFIG_DIR ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => {
    const absolute = path.resolve(folder);
    if (!holdsConfigFiles(absolute)) {
      throw new ConfigError([
        {
          path: [],
          found: `NODE_CONFIG_DIR ${folder}`,
          expected: `a readable folder with a file such as default.yaml (${FILE_FORMATS.join(', ')})`,
        },
      ]);
    }
    return absolute;
  });
}

function holdsConfigFiles(folder: string): boolean {
  try {
    return readdirSync(folder).some((file) => FILE_FORMATS.includes(path.extname(file).slice(1)));
  } catch {
    return false;
  }
}

/** node-config ignores a malformed variable, after printing it; here it is a fault, which does not show what may be secret. */
function nodeConfigVariable(env: Environment): object {
  if (!env.NODE_CONFIG) return {};
  const tree = parseJson(env.NODE_CONFIG);
  if (isJsonObject(tree)) return tree;
  throw new ConfigError([{ path: [], found: 'unreadable text in NODE_CONFIG', expected: 'a JSON object' }]);
}

function reporting<T>(folder: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unreadable';
    throw new ConfigError([
      { path: [], found: `a file in ${folder} that cannot be read (${detail})`, expected: 'YAML or JSON' },
    ]);
  }
}
