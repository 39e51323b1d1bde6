import { z } from 'zod';
import { RIGHTS } from '../../domain/rights.js';
import type { Answer } from './values.js';

export const sessionSchema = z
  .strictObject({
    actor: z.string().describe('name of the token, as the ledger records it'),
    may: z.array(z.enum(RIGHTS)),
    sources: z.array(z.string()).nullable().describe('sources that exist for the token; null: all'),
    canAskService: z
      .boolean()
      .describe('whether results can be refetched: speech.apiKey and the batchUrl of a region are set'),
  })
  .meta({ id: 'Session' });
export type Session = Answer<typeof sessionSchema>;
