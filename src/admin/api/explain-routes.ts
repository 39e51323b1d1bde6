import { z } from 'zod';
import { Problem } from '../../domain/problem.js';
import { explain } from '../../receiver/access/explain.js';
import type { Source } from '../../receiver/access/sender.js';
import { defaultSource } from '../../repair/default-source.js';
import { readBody, text } from '../../text/read-input.js';
import { type AdminRoute, ok } from './admin-route.js';

export interface ExplainRouteParts {
  readonly sources: ReadonlyMap<string, Pick<Source, 'gate' | 'report'>>;
}

const HEADER_VALUE = z.string().max(8192);
const EXPLAIN_BODY = z.strictObject({
  source: text.optional(),
  /** Address of the connection's other end: the sender, or the proxy in front. */
  address: text,
  headers: z
    .record(z.string().max(256), z.union([HEADER_VALUE, z.array(HEADER_VALUE).max(20)]))
    .refine((headers) => Object.keys(headers).length <= 100, 'at most 100 headers')
    .optional(),
});

export function explainRoutes({ sources }: ExplainRouteParts): AdminRoute[] {
  return [
    {
      method: 'POST',
      path: '/explain',
      takes: 'json',
      async handle({ body }) {
        const { address, headers = {}, ...asked } = readBody(EXPLAIN_BODY, body);
        const source = asked.source ?? defaultSource(sources.keys());
        if (source === null) throw new Problem('request-invalid', 'Name the source: there are several.');
        const lists = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
        const explanation = explain(sources, {
          source,
          peer: address,
          headers: Object.fromEntries(lists),
          now: Date.now(),
        });
        return ok(explanation);
      },
    },
  ];
}
