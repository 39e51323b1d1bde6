import { z } from 'zod';
import { Problem } from '../../../domain/problem.js';
import { isInScope } from '../../../domain/rights.js';
import { textInput } from '../../../lib/text/read-input.js';
import { type Explanation, explain } from '../../../receive/access/explain.js';
import { defaultSource } from '../../actions/default-source.js';
import { explanationSchema } from '../../answers/explanation.js';
import type { Access } from '../access/access.js';
import { createAttemptCounter } from '../access/attempt-counter.js';
import type { AdminServices } from '../admin-services.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';

/** Explanations with a credential per minute and token: enough to test a sender's headers, too few to guess a credential. */
const CHECKS_PER_MINUTE = 10;

const HEADER_VALUE = z.string().max(8192);
const explainBody = z
  .strictObject({
    source: textInput.optional().describe('may be left out when one source is configured'),
    address: textInput.describe("of the connection's other end: the sender, or the proxy in front"),
    headers: z
      .record(z.string().max(256), z.union([HEADER_VALUE, z.array(HEADER_VALUE).max(20)]))
      .refine((headers) => Object.keys(headers).length <= 100, 'at most 100 headers')
      .optional(),
  })
  .meta({
    id: 'ExplainRequest',
    examples: [{ source: 'default', address: '203.0.113.7', headers: { authorization: 'Bearer …' } }],
  });

export function explainRoutes({ sources, accessLedger, clock }: AdminServices): AdminRoute[] {
  const countCheck = createAttemptCounter(clock);

  /** Limits and records checks of credentials, so that a client cannot guess one unnoticed. */
  async function recordCheck(
    access: Access,
    peer: string | undefined,
    source: string,
    explanation: Explanation,
  ) {
    if (countCheck(access.actor) > CHECKS_PER_MINUTE) {
      const detail = `A token explains up to ${CHECKS_PER_MINUTE} requests with a credential a minute.`;
      throw new Problem('too-many-attempts', detail);
    }
    const passed = explanation.gates.every(({ gate, passed }) => gate !== 'credential' || passed);
    await accessLedger.credentialChecked({ access, peer, source, passed });
  }

  return [
    adminRoute({
      method: 'POST',
      path: '/explain',
      right: 'view',
      tag: 'Security',
      summary: 'What would happen to a callback, and why',
      body: explainBody,
      answers: { 200: explanationSchema },
      async handle({ body: { address, headers = {}, ...named }, access, peer }) {
        const existing = new Map([...sources].filter(([name]) => isInScope(access.scope, name)));
        const source = named.source ?? defaultSource(existing.keys());
        if (source === null) throw new Problem('request-invalid', 'Name the source: there are several.');
        const lists = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
        const claimed = { source, peer: address, headers: Object.fromEntries(lists), now: clock() };
        const explanation = explain(existing, claimed);
        const secrets = existing.get(source)?.credentialHeaders;
        const hasCredential = lists.some(([name]) => secrets?.has(name.toLowerCase()));
        if (hasCredential) await recordCheck(access, peer, source, explanation);
        return ok(explanation);
      },
    }),
  ];
}
