import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import { rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { newDeliveryId } from '../../../ledger/ledger-line.js';
import { instantInput } from '../../../lib/text/read-input.js';
import type { DeadEvent } from '../../../subscribers/dead-event.js';
import { testEvent } from '../../../subscribers/test-event.js';
import {
  deadEventsSchema,
  sentEventsSchema,
  sentOutcome,
  subscribersSchema,
  testedSchema,
} from '../../answers/subscribers.js';
import type { AdminServices } from '../admin-services.js';
import { shownSent } from '../subscribers/shown-sent.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { jobFilter, lineFilters, page } from './request-schemas.js';

/** Milliseconds; longer than the subscriber's time-out, because requests of other events may go first. */
const TEST_TIMEOUT = 60_000;

export function subscribersRoutes({
  outbox,
  view,
  names,
  fresh,
  subscribers,
  subscriberNames,
}: AdminServices): AdminRoute[] {
  function rejectUnknown(name: string, scope: SourceScope): void {
    if (!subscriberNames(scope).includes(name))
      throw new Problem('not-found', 'There is no such subscriber.');
  }
  return [
    adminRoute({
      method: 'GET',
      path: '/subscribers',
      right: 'view',
      tag: 'Subscribers',
      summary: 'The subscribers, with the progress of each',
      answers: { 200: subscribersSchema },
      async handle({ access: { scope }, signal }) {
        const list = await subscribers(scope, signal);
        return ok({ subscribers: list, index: view.extent(), nextCursor: null });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/subscribers/:id/events',
      right: 'view',
      tag: 'Subscribers',
      summary: 'Attempted events with their outcome, newest first',
      query: {
        ...page(50),
        job: jobFilter,
        outcome: sentOutcome.optional(),
        ...lineFilters(['source']),
        since: instantInput.optional().describe('ISO 8601 with a zone, or a date; tried at or after it'),
        until: instantInput.optional().describe('the same; tried before it'),
      },
      answers: { 200: sentEventsSchema },
      problems: ['not-found'],
      async handle({ params: { id: name = '' }, query, access: { scope } }) {
        rejectUnknown(name, scope);
        await fresh();
        await rejectUnknownNames({ source: query.source }, names, view, scope);
        const index = view.extent();
        const { events, nextCursor } = await view.sent.page({ ...query, subscriber: name, scope });
        const statuses = await outbox.statuses(scope);
        const shown = events.map((event) => shownSent(event, statuses));
        return ok({ events: shown, index, nextCursor });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/subscribers/:id/dead',
      right: 'view',
      tag: 'Subscribers',
      summary: 'Events that ended without being sent, oldest first',
      query: page(50),
      answers: { 200: deadEventsSchema },
      problems: ['not-found'],
      async handle({ params: { id: name = '' }, query, access: { scope }, signal }) {
        rejectUnknown(name, scope);
        const { deadEvents, nextCursor } = await outbox.deadEvents(name, { ...query, scope, signal });
        return ok({ deadEvents: deadEvents.map(shownEvent), nextCursor });
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/subscribers/:id/test',
      right: 'repair',
      tag: 'Subscribers',
      summary: 'Send a test event now, and return the response of the address',
      answers: { 200: testedSchema },
      problems: ['not-found'],
      async handle({ params: { id: name = '' }, access: { scope } }) {
        rejectUnknown(name, scope);
        const event = testEvent(newDeliveryId(), '/admin');
        return ok(await outbox.send(name, event, AbortSignal.timeout(TEST_TIMEOUT)));
      },
    }),
  ];
}

function shownEvent({ event, reason, endedAt, firstTriedAt, attempts, history }: DeadEvent) {
  return { event: { ...event, data: { ...event.data } }, reason, endedAt, firstTriedAt, attempts, history };
}
