import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Load, Util } from 'config/lib/util.js';
import { type Environment, environmentNames } from './environment.js';
import { ConfigError } from './faults.js';
import { configParser, FILE_FORMATS } from './parser.js';
import { referencedVariables, variableNames } from './variables.js';

/** The package's own `config/`, two levels above both src/config/ and dist/config/. */
const PACKAGE_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));

/** node-config's loader, with its substitution of variables at hand for another environment than the process's. */
class SettingsLoad extends Load {
  readonly variables = new Set<string>();

  addVariables(mappingFile: string, env: Environment): void {
    this.loadFile(mappingFile, (mapping) => {
      for (const name of variableNames(mapping).values()) this.variables.add(name);
      return this.substituteDeep(mapping, { ...env });
    });
  }
}

/** What node-config read. */
export interface LoadedSettings {
  /** As written. */
  readonly tree: unknown;
  /** Names of the environment variables that are mapped to settings, or that a text of the tree refers to. */
  readonly variables: ReadonlySet<string>;
}

/**
 * Reads the tree of settings through node-config, as written. Later wins, maps are merged, lists are replaced:
 * the package's `config/` (default, then the environment's file and the others node-config knows), the folders
 * in NODE_CONFIG_DIR in the same way, NODE_CONFIG, and the variables of custom-environment-variables.yaml.
 *
 * node-config's singleton would sort both folders' files by kind, so that the package's development.yaml
 * overrode the operator's default.yaml; its loader is therefore run once per folder.
 */
export function loadSettings(env: Environment): LoadedSettings {
  const load = new SettingsLoad({
    configDir: PACKAGE_FOLDER,
    nodeEnv: environmentNames(env),
    hostName: env.HOST || env.HOSTNAME || os.hostname(),
    ...(env.NODE_APP_INSTANCE ? { appInstance: env.NODE_APP_INSTANCE } : {}),
    parser: configParser as never,
  });
  const folders = [PACKAGE_FOLDER, ...operatorFolders(env)];
  for (const folder of folders) loadFolder(load, folder);
  load.addConfig('$NODE_CONFIG', nodeConfigVariable(env));
  for (const folder of folders) {
    forEachFile(folder, 'custom-environment-variables', (file) => load.addVariables(file, env));
  }
  const variables = new Set([...load.variables, ...referencedVariables(load.config)]);
  return { tree: load.config, variables };
}

function loadFolder(load: Load, folder: string): void {
  forEachFile(folder, 'egress', (file) => load.loadFile(file));
  load.options.configDir = folder;
  reporting(folder, () => Util.loadFileConfigs(load));
}

/** Offers a file of each format to `read`, which passes over those that are not there. */
function forEachFile(folder: string, baseName: string, read: (file: string) => void): void {
  for (const extension of FILE_FORMATS) {
    reporting(folder, () => read(path.join(folder, `${baseName}.${extension}`)));
  }
}

/** node-config passes over a folder that is not there; an operator who names one means it. */
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

/** node-config only prints that the variable is malformed and goes on without it. The content may hold secrets. */
function nodeConfigVariable(env: Environment): object {
  if (!env.NODE_CONFIG) return {};
  try {
    const tree: unknown = JSON.parse(env.NODE_CONFIG);
    if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) return tree;
  } catch {
    // Falls through to the same fault.
  }
  throw new ConfigError([{ path: [], found: 'other text in NODE_CONFIG', expected: 'a JSON object there' }]);
}

function reporting(folder: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unreadable';
    throw new ConfigError([
      { path: [], found: `a file in ${folder} that cannot be read (${detail})`, expected: 'YAML or JSON' },
    ]);
  }
}
