import { z } from 'zod';
import { Problem } from '../../domain/problem.js';
import { isInScope } from '../../domain/rights.js';
import { explain } from '../../receiver/access/explain.js';
import type { Source } from '../../receiver/access/sources.js';
import { defaultSource } from '../../repair/default-source.js';
import { text } from '../../text/read-input.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { explanationSchema } from './answers/explanation.js';

export interface ExplainRouteParts {
  readonly sources: ReadonlyMap<string, Pick<Source, 'checkAccess' | 'reportAccess'>>;
}

const HEADER_VALUE = z.string().max(8192);
const explainBody = z
  .strictObject({
    source: text.optional().describe('may be left out when one source is configured'),
    address: text.describe("of the connection's other end: the sender, or the proxy in front"),
    headers: z
      .record(z.string().max(256), z.union([HEADER_VALUE, z.array(HEADER_VALUE).max(20)]))
      .refine((headers) => Object.keys(headers).length <= 100, 'at most 100 headers')
      .optional(),
  })
  .meta({
    id: 'ExplainRequest',
    examples: [{ source: 'default', address: '203.0.113.7', headers: { authorization: 'Bearer …' } }],
  });

export function explainRoutes({ sources }: ExplainRouteParts): AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      path: '/explain',
      right: 'view',
      tag: 'Security',
      summary: 'What would happen to a callback, and why',
      body: explainBody,
      answers: { 200: explanationSchema },
      async handle({ body: { address, headers = {}, ...named }, access: { scope } }) {
        const existing = new Map([...sources].filter(([name]) => isInScope(scope, name)));
        const source = named.source ?? defaultSource(existing.keys());
        if (source === null) throw new Problem('request-invalid', 'Name the source: there are several.');
        const lists = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
        const claimed = { source, peer: address, headers: Object.fromEntries(lists), now: Date.now() };
        return ok(explain(existing, claimed));
      },
    }),
  ];
}
