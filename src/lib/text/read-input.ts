import { z } from 'zod';
import { Problem } from '../../domain/problem.js';
import { readInstant } from '../time/instant.js';

/** Longest value of a filter; no filtered field is longer. */
const MAX_TEXT = 200;

export const textInput = z.string().min(1).max(MAX_TEXT);
/** An operator's reason, kept in the ledger. */
export const reasonText = z.string().trim().max(500).optional();
export const instantInput = textInput.refine(
  (value) => readInstant(value) !== null,
  'must be an ISO 8601 instant with its zone, or a date',
);

/** A query parameter that is a whole number. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const cursorText = z.string().max(1000);

/** Validates a JSON body; a missing one counts as `{}`. Throws `request-invalid` with the faults. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  return parse(schema, body ?? {});
}

/** Validates query parameters. Unknown and repeated ones are rejected, because a misspelt filter would match everything. */
export function readQuery<T extends z.ZodType>(schema: T, query: URLSearchParams): z.output<T> {
  const names = [...query.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new Problem('request-invalid', `The parameter ${quoted(repeated)} occurs more than once.`);
  }
  return parse(schema, Object.fromEntries(query));
}

function parse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.slice(0, 5).map(({ path, message }) => {
    const where = path.map(String).join('.').slice(0, MAX_TEXT);
    return where === '' ? message.slice(0, MAX_TEXT) : `${where}: ${message.slice(0, MAX_TEXT)}`;
  });
  throw new Problem('request-invalid', `${faults.join('; ')}.`);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 64));
}
