import { isJsonObject } from '../../lib/text/parse-json.js';
import type { ConfigFault, SettingPath } from '../config-error.js';
import { describeFound } from '../config-error.js';
import { brokenRules } from '../rules/rules.js';
import { configSchema, type Settings } from '../schema.js';
import { isProduction } from './environment.js';
import { type RuntimeContext, resolveSecrets } from './resolve-secrets.js';
import { schemaFaults } from './schema-faults.js';
import { unknownVariables } from './variables.js';

/** The settings of a tree, and every fault in it. */
interface SettingsReading {
  /** Null only when the tree cannot be read at all. Faulty settings have their defaults. */
  readonly settings: Settings | null;
  readonly faults: readonly ConfigFault[];
}

/** Reads a tree from YAML or JSON: removes nulls, resolves secrets, applies the schema, then the rules across settings. */
export function readSettings(raw: unknown, context: RuntimeContext): SettingsReading {
  const production = isProduction(context.env);
  const tree = withoutExtensions(raw ?? {});
  const written = withoutNulls(production ? tree : withBuiltInSource(tree));
  const { resolved, faults: secretFaults } = resolveSecrets(written, context);
  const reserved = reservedNames(written);
  const missing = [...secretFaults, ...reserved].map((fault) => fault.path);
  const shape = readShape(resolved, written);
  // An unresolved reference also fails the schema of its setting; report it once.
  const shapeFaults = shape.faults.filter((fault) => !touches(fault.path, missing));
  const seen = [...missing, ...shapeFaults.map((fault) => fault.path)];
  const { unread = [] } = context;
  // Unread files may hold settings that a rule would miss, or the names of variables.
  const isWhole = unread.length === 0;
  const { settings } = shape;
  const ruleFaults = isWhole && settings !== null ? faultsOfRules(settings, written, production, seen) : [];
  const variableFaults = isWhole ? unknownVariables(context) : [];
  return {
    settings,
    faults: [...unread, ...variableFaults, ...secretFaults, ...reserved, ...shapeFaults, ...ruleFaults],
  };
}

/**
 * Applies the schema. The default replaces a faulty setting, so that the rules across settings can be checked in the
 * same run.
 */
function readShape(tree: unknown, written: unknown): SettingsReading {
  const faults: ConfigFault[] = [];
  let current = tree;
  // Removing a faulty setting can expose others, such as a list that is now too short: a few rounds suffice.
  for (let round = 0; round < 5; round++) {
    const result = configSchema.safeParse(current);
    if (result.success) return { settings: result.data, faults };
    const found = schemaFaults(result.error.issues, written);
    const known = faults.map(({ path }) => path);
    faults.push(...found.filter(({ path }) => !touches(path, known)));
    for (const fault of found) current = without(current, fault.path) ?? {};
  }
  return { settings: null, faults };
}

function faultsOfRules(
  settings: Settings,
  written: unknown,
  production: boolean,
  seen: readonly SettingPath[],
): ConfigFault[] {
  return brokenRules(settings, { production })
    .filter((rule) => ![rule.path, ...(rule.also ?? [])].some((path) => touches(path, seen)))
    .map(({ path, expected }) => ({ path, found: describeFound(written, path), expected }));
}

/** Whether `path` equals, contains or is inside one of `others`: then its fault only follows from the other one. */
function touches(path: SettingPath, others: readonly SettingPath[]): boolean {
  return others.some((other) => {
    const common = Math.min(path.length, other.length);
    return path.slice(0, common).every((segment, index) => segment === other[index]);
  });
}

/**
 * A copy of the tree without the value at `path`. A list entry is removed with its list, because later faults of the same
 * round name positions in it; a missing setting is removed with its section.
 */
function without(tree: unknown, path: SettingPath): unknown {
  const [first, ...rest] = path;
  if (first === undefined || !isJsonObject(tree)) return undefined;
  // The section may have been removed for another fault.
  if (!Object.hasOwn(tree, first)) return rest.length === 0 ? undefined : tree;
  const { [first]: taken, ...others } = tree;
  const inner = rest.length === 0 ? undefined : without(taken, rest);
  return inner === undefined ? others : { ...others, [first]: inner };
}

/** Faults for `__proto__`, which the schema would ignore silently: a source or token of that name would be lost. */
function reservedNames(value: unknown, path: SettingPath = []): ConfigFault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) =>
    name === '__proto__'
      ? [{ path: [...path, name], found: 'that name', expected: 'another name' }]
      : reservedNames(entry, [...path, name]),
  );
}

/** Removes sections named `x-…`, in which operators keep YAML anchors for other settings. */
function withoutExtensions(raw: unknown): unknown {
  if (!isJsonObject(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('x-')));
}

/**
 * Adds the source of the quick start, with the defaults of the schema, which admit this machine only. Any source that the
 * operator names, even to remove it, replaces this one; they are never merged.
 */
function withBuiltInSource(raw: unknown): unknown {
  if (!isJsonObject(raw)) return raw;
  const sources = raw.sources ?? {};
  const none = isJsonObject(sources) && Object.keys(sources).length === 0;
  return none ? { ...raw, sources: { default: {} } } : raw;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== null)
      .map(([name, entry]) => [name, withoutNulls(entry)]),
  );
}
