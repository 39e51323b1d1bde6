import { z } from 'zod';
import { isJobId } from '../../../domain/job.js';
import { LINE_FILTERS, type LineFilter } from '../../../domain/line-filters.js';
import { cursorText, instantInput, reasonText, textInput, whole } from '../../../lib/text/read-input.js';

/** Input shared by several routes. */

export const JOB = { id: z.string().refine(isJobId, 'No job can have this id.').describe('job id') };

export const page = (defaultLimit: number) => ({
  limit: whole(1, 500).default(defaultLimit),
  cursor: cursorText.optional().describe('`nextCursor` of the page before'),
});

export const RANGE = {
  since: instantInput.optional().describe('ISO 8601 with a zone, or a date; received at or after it'),
  until: instantInput.optional().describe('the same; received before it'),
};

export const jobFilter = textInput.optional().describe('job id');
export const contextFilter = textInput.optional().describe('`name=value` of the context, such as call=123');

/** Parameters of filters by fields of ledger lines. */
export function lineFilters<Name extends LineFilter>(
  names: readonly Name[],
): Readonly<Record<NoInfer<Name>, z.ZodOptional<typeof textInput>>> {
  const entries = names.map((name) => [name, textInput.optional().describe(LINE_FILTERS[name].words)]);
  return Object.fromEntries(entries);
}

export const reason = reasonText.describe('why, for the ledger');
/** Query for clients that cannot send a body with DELETE. */
export const REASON_QUERY = {
  reason: reason.describe('why, for clients that cannot send a body with DELETE'),
};
export const reasonBody = z.strictObject({ reason }).meta({ id: 'Reason' });
