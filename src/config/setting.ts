import { z } from 'zod';
import { NAME, NAME_EXPECTED } from './schema/names.js';

/** Building blocks of the schema. */

/** A reader returns it instead of a value, with a more specific expectation. */
export class Mismatch {
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

/** Documentation of one setting, read by the reference generator. */
export interface SettingMeta {
  readonly description: string;
  readonly type?: string;
  /** The default as an operator would write it. */
  readonly initial?: unknown;
}

export const settingMeta = z.registry<SettingMeta>();

/** A schema that accepts what `read` accepts; undefined or a `Mismatch` is a fault with the expectation. */
export function leaf<T>(expected: string, read: (input: unknown) => T | Mismatch | undefined) {
  return z.unknown().transform((input, context): T => {
    const value = read(input);
    if (value !== undefined && !(value instanceof Mismatch)) return value as T;
    const message = value instanceof Mismatch ? value.expected : expected;
    context.issues.push({ code: 'custom', message, input });
    return z.NEVER;
  });
}

/** A setting with its default, given as an operator would write it, and its documentation. */
export function setting<T extends z.ZodType>(schema: T, type: string, initial: unknown, description: string) {
  // The default is read like a given value, so an invalid default fails at once.
  const withDefault = schema.prefault(initial as never);
  settingMeta.add(withDefault, { description, type, initial });
  return withDefault;
}

/** A setting whose default is null, meaning "not set". */
export function optional<T extends z.ZodType>(schema: T, type: string, description: string) {
  const nullable = schema.nullable().default(null as never);
  settingMeta.add(nullable, { description, type, initial: null });
  return nullable;
}

/** A setting without a default. */
export function required<T extends z.ZodType>(schema: T, type: string, description: string): T {
  settingMeta.add(schema, { description, type });
  return schema;
}

/** A group of settings; when absent, all its defaults apply. */
export function section<S extends z.ZodRawShape>(description: string, shape: S) {
  const withDefault = z.strictObject(shape).prefault({} as never);
  settingMeta.add(withDefault, { description });
  return withDefault;
}

/** A map from names the operator chooses to values of one shape. */
export function named<V extends z.ZodType>(value: V) {
  return z.record(
    z.string().refine((name) => NAME.test(name), { message: NAME_EXPECTED }),
    value,
  );
}
