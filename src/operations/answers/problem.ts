import { z } from 'zod';
import { PROBLEM_CODES } from '../../domain/problem.js';

export const problemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(PROBLEM_CODES).describe('stable; new codes may be added'),
    detail: z.string(),
  })
  .meta({
    id: 'Problem',
    description: 'RFC 9457 problem details',
    examples: [
      {
        type: 'urn:transcript-receiver:problem:not-found',
        title: 'No such resource',
        status: 404,
        code: 'not-found',
        detail: 'This job is not known here.',
      },
    ],
  });
