import { Problem } from '../../domain/problem.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { DeadEvent } from '../../outbox/dead-event.js';
import type { Outbox } from '../../outbox/outbox.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import type { Subscriber } from './answers/subscribers.js';
import { deadEventsSchema, subscribersSchema } from './answers/subscribers.js';
import { page } from './request-schemas.js';

export interface SubscribersRouteParts {
  readonly outbox: Pick<Outbox, 'deadEvents'>;
  readonly subscribers: (scope: SourceScope) => Promise<readonly Subscriber[]>;
}

export function subscribersRoutes({ outbox, subscribers }: SubscribersRouteParts): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/subscribers',
      right: 'view',
      tag: 'Subscribers',
      summary: 'Who is sent events, and how far each subscriber is',
      answers: { 200: subscribersSchema },
      async handle({ access: { scope } }) {
        return ok({ subscribers: await subscribers(scope), nextCursor: null });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/subscribers/:name/dead',
      right: 'view',
      tag: 'Subscribers',
      summary: 'Events that ended without being sent, newest first',
      query: page(50),
      answers: { 200: deadEventsSchema },
      problems: ['not-found'],
      async handle({ params: { name = '' }, query, access: { scope } }) {
        const known = (await subscribers(scope)).some((each) => each.name === name);
        if (!known) throw new Problem('not-found', 'There is no such subscriber.');
        const { deadEvents, nextCursor } = await outbox.deadEvents(name, query);
        const visible = deadEvents.filter(({ event }) => isInScope(scope, event.data.source));
        return ok({ deadEvents: visible.map(shownEvent), nextCursor });
      },
    }),
  ];
}

function shownEvent({ event, reason, endedAt, firstTriedAt, attempts, history }: DeadEvent) {
  return { event: { ...event, data: { ...event.data } }, reason, endedAt, firstTriedAt, attempts, history };
}
