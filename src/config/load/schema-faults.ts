import { z } from 'zod';
import { type ConfigFault, describeFound, type SettingPath } from '../config-error.js';
import { configSchema } from '../schema.js';

type Issue = z.core.$ZodIssue;

/** Turns the schema's issues into faults; `written` is the tree before secrets were resolved. */
export function schemaFaults(issues: readonly Issue[], written: unknown): ConfigFault[] {
  const placeOf = ({ path }: Issue) => JSON.stringify(path);
  const mistyped = new Set(issues.filter(isMistyped).map(placeOf));
  // A text instead of a list would also be too long for the list.
  return issues
    .filter((issue) => isMistyped(issue) || !mistyped.has(placeOf(issue)))
    .flatMap((issue) => faultsOf(issue, written));
}

function isMistyped({ code }: Issue): boolean {
  return code === 'invalid_type';
}

function faultsOf(issue: Issue, written: unknown): ConfigFault[] {
  const path = issue.path as SettingPath;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownSetting(path, key));
  if (issue.code === 'invalid_key') {
    // The path of the issue ends in the rejected name.
    return [{ path, found: 'that name', expected: issue.issues[0]?.message ?? 'another name' }];
  }
  return [{ path, found: describeFound(written, path), expected: expectation(issue) }];
}

function expectation(issue: Issue): string {
  if (issue.code !== 'invalid_type') return issue.message;
  const names: Record<string, string> = { array: 'a list', object: 'a map', record: 'a map' };
  return names[issue.expected] ?? issue.expected;
}

/** The value of an unknown setting is never shown: it may be a misplaced secret. */
function unknownSetting(parent: SettingPath, key: string): ConfigFault {
  const expected = `a known setting (${settingNames(parent).join(', ')})`;
  return { path: [...parent, key], found: 'an unknown setting', expected };
}

/** Names of the settings the schema knows directly below a path. */
function settingNames(path: SettingPath): string[] {
  let schema: unknown = configSchema;
  for (const segment of path) schema = below(unwrap(schema), segment);
  const target = unwrap(schema);
  return target instanceof z.ZodObject ? Object.keys(target.shape) : [];
}

function below(schema: unknown, segment: string | number): unknown {
  if (schema instanceof z.ZodObject) {
    return (schema.shape as Record<string, unknown>)[segment] ?? schema.def.catchall;
  }
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return schema instanceof z.ZodArray ? schema.element : undefined;
}

/** The schema inside its default wrappers, and inside the pipe that accepts a short form of a map. */
export function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
  }
  return inner instanceof z.ZodPipe && inner.out instanceof z.ZodObject ? inner.out : inner;
}
