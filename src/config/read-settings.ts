import { isProduction } from './environment.js';
import type { ConfigFault, SettingPath } from './faults.js';
import { describeFound } from './faults.js';
import { brokenRules } from './rules.js';
import { configSchema, type Settings } from './schema.js';
import { schemaFaults } from './schema-faults.js';
import { resolveSecrets, type Surroundings } from './secrets.js';
import { unknownVariables } from './variables.js';

/** What a tree of settings says, and everything that is wrong with it. */
export interface SettingsReading {
  /** Null only when the tree gives no value at all. Faulty settings stand at their defaults. */
  readonly settings: Settings | null;
  readonly faults: readonly ConfigFault[];
}

/** Reads a tree as YAML or JSON give it: nulls out, secrets in, the schema, then the rules across settings. */
export function readSettings(raw: unknown, surroundings: Surroundings): SettingsReading {
  const production = isProduction(surroundings.env);
  const tree = withoutNotes(raw ?? {});
  const written = withoutNulls(production ? tree : withBuiltInSource(tree));
  const { resolved, faults: secretFaults } = resolveSecrets(written, surroundings);
  const missing = secretFaults.map((fault) => fault.path);
  const shape = readShape(resolved, written);
  // A reference that was not found also fails the shape of its setting; once is enough.
  const shapeFaults = shape.faults.filter((fault) => !touches(fault.path, missing));
  const seen = [...missing, ...shapeFaults.map((fault) => fault.path)];
  const ruleFaults = shape.settings === null ? [] : faultsOfRules(shape.settings, written, production, seen);
  const variableFaults = unknownVariables(surroundings);
  return {
    settings: shape.settings,
    faults: [...variableFaults, ...secretFaults, ...shapeFaults, ...ruleFaults],
  };
}

/**
 * Reads the settings; where one is faulty its default stands in for it, so that the rules across settings
 * can be checked in the same run. `settings` is null only when not even that gives a value.
 */
function readShape(tree: unknown, written: unknown): SettingsReading {
  const faults: ConfigFault[] = [];
  let current = tree;
  // Taking out a faulty setting can uncover others, such as a list that is now too short: a few rounds suffice.
  for (let round = 0; round < 5; round++) {
    const result = configSchema.safeParse(current);
    if (result.success) return { settings: result.data, faults };
    const found = schemaFaults(result.error.issues, written);
    faults.push(
      ...found.filter(
        (fault) =>
          !touches(
            fault.path,
            faults.map((known) => known.path),
          ),
      ),
    );
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

/** Whether `path` is one of `others`, above one or below one: what is said there would follow from the other fault. */
function touches(path: SettingPath, others: readonly SettingPath[]): boolean {
  return others.some((other) => {
    const common = Math.min(path.length, other.length);
    return path.slice(0, common).every((segment, index) => segment === other[index]);
  });
}

/**
 * A copy of the tree without the value at `path`. What cannot be taken out alone goes with what holds it:
 * entries of lists, whose positions later faults of the same round name, and settings that were missing.
 */
function without(tree: unknown, path: SettingPath): unknown {
  const [first, ...rest] = path;
  if (first === undefined || !isMap(tree)) return undefined;
  // What holds the setting may have gone with another fault; a missing setting takes what holds it along.
  if (!Object.hasOwn(tree, first)) return rest.length === 0 ? undefined : tree;
  const { [first]: taken, ...others } = tree;
  const inner = rest.length === 0 ? undefined : without(taken, rest);
  return inner === undefined ? others : { ...others, [first]: inner };
}

/** Sections called `x-…` are the operator's own: a place for YAML anchors that other settings refer to. */
function withoutNotes(raw: unknown): unknown {
  if (!isMap(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('x-')));
}

/**
 * The source of the quick start: its values are the schema's own, which admit this machine only. A source that the
 * operator names, if only to remove it, takes its place; it is never merged with one.
 */
function withBuiltInSource(raw: unknown): unknown {
  if (!isMap(raw)) return raw;
  const sources = raw.sources ?? {};
  const none = isMap(sources) && Object.keys(sources).length === 0;
  return none ? { ...raw, sources: { default: {} } } : raw;
}

function isMap(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
