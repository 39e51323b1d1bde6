import { z } from 'zod';
import { count } from './values.js';

export const explanationSchema = z
  .strictObject({
    decision: z.enum(['accept', 'refuse']),
    status: count.describe('200 for accept, else the status the sender would see'),
    reason: z.string().describe('more than the sender would see'),
    clientIp: z.string().nullable(),
    region: z.string().nullable(),
    rule: z.string().nullable(),
    credential: z.string().nullable(),
    gates: z
      .array(
        z.strictObject({
          gate: z.enum(['source', 'address', 'credential']),
          passed: z.boolean(),
          detail: z.string(),
          toPass: z.string().nullable().describe('what to change; null when it passed'),
        }),
      )
      .describe('every check, also those after the first that fails'),
  })
  .meta({ id: 'Explanation' });
