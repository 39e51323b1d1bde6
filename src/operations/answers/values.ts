import { z } from 'zod';

/** Schemas shared by several answers of the admin API. Answers are validated in tests, not in production. */

/** Type of an answer: the output of the schema with readonly arrays and members. */
export type Answer<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

type Immutable<T> = T extends readonly (infer Element)[]
  ? readonly Immutable<Element>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;

export const count = z.int().min(0);
export const amount = z.number().min(0);
export const countsByName = z.record(z.string(), count);
/** Instant in UTC, with milliseconds. */
export const instant = z.iso.datetime({ precision: 3 });
export const ulid = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/);

export const nextCursor = z
  .string()
  .nullable()
  .describe('`cursor` of the next page; null when this one is the last');

/** For parts of stored documents, in which another version of the receiver may have written further members. */
export const OPEN = { additionalProperties: true } as const;
