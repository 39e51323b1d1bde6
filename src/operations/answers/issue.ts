import { z } from 'zod';
import { ISSUE_CODES } from '../issues/issue-kinds.js';
import { ISSUE_LEVELS, TOPICS } from '../issues/issues.js';

export const issueSchema = z
  .strictObject({
    topic: z.enum(TOPICS).describe("topic of the dashboard's tiles and of its help"),
    level: z.enum(ISSUE_LEVELS),
    code: z.enum(ISSUE_CODES),
    params: z
      .record(z.string(), z.unknown())
      .describe('facts by the code: numbers, names and instants (docs/operations.md, "Issues")'),
  })
  .meta({ id: 'Issue', description: 'One thing wrong' });
