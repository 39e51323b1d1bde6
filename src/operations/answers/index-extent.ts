import { z } from 'zod';
import { count, instant } from './values.js';

/** Extent of the index of the ledger, the same in every answer. */
export const indexExtentSchema = z
  .strictObject({
    since: instant.nullable().describe('null: from the beginning of the ledger'),
    until: instant.nullable().describe('null until something was read'),
    missing: z
      .array(
        z.strictObject({
          key: z
            .string()
            .describe(
              'of the first segment, or of an object of a merged hour; ends in `/`: a folder that cannot be listed',
            ),
          segments: count.describe('of a writer, with consecutive numbers'),
          unreadable: count
            .nullable()
            .describe('lines that cannot be read of a segment that is there; null where it is missing'),
        }),
      )
      .describe('what is missing or cannot be read, the first hundred, newest first'),
  })
  .meta({
    id: 'IndexExtent',
    description:
      'Answers cover all lines written from `since` to `until`, but for those of the missing segments',
  });
