import { z } from 'zod';
import { isJobId } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';
import { checkNames, type KnownNames } from '../../ledger-view/filter-names.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import type { ReplayFailure } from '../../repair/replay-store.js';
import type { Replays } from '../../repair/replays.js';
import { cursorText, instant, readBody, readQuery, reasonText, text, whole } from '../../text/read-input.js';
import { type AdminRoute, ok } from './admin-route.js';

export interface ReplaysRouteParts {
  readonly replays: Replays;
  readonly fresh: FreshView;
  readonly names: KnownNames;
  readonly view: Pick<LedgerView, 'holds'>;
}

const PREVIEWED_JOBS = 100;
const SHOWN_FAILURES = 100;
const MAX_NAMED_JOBS = 10_000;

const REPLAY_BODY = z.strictObject({
  selector: z.strictObject({
    kind: z.enum(['refetch', 'release']),
    jobs: z
      .array(z.string().refine(isJobId, 'is no job id'))
      .max(MAX_NAMED_JOBS)
      // An empty list beside filters is a form nobody filled in.
      .transform((jobs) => (jobs.length === 0 ? undefined : jobs))
      .optional(),
    since: instant.optional(),
    until: instant.optional(),
    failedOf: text.optional(),
    source: text.optional(),
    region: text.optional(),
    status: text.optional(),
    outcome: text.optional(),
  }),
  dryRun: z.boolean().optional(),
  reason: reasonText,
});
const LIST_QUERY = z.strictObject({ limit: whole(1, 500).optional(), cursor: cursorText.optional() });
const REASON = z.strictObject({ reason: reasonText });

export function replaysRoutes({ replays, fresh, names, view }: ReplaysRouteParts): AdminRoute[] {
  return [
    {
      method: 'POST',
      path: '/replays',
      takes: 'json',
      async handle({ body, actor }) {
        const { selector, dryRun = false, reason = null } = readBody(REPLAY_BODY, body);
        await fresh();
        checkNames(selector, names, view);
        if (!dryRun) return ok({ replayId: await replays.order(selector, { actor, reason }) }, 202);
        const { items, bytes, jobs } = await replays.preview(selector);
        return ok({ count: items.length, bytes, jobs: jobs.slice(0, PREVIEWED_JOBS) });
      },
    },
    {
      method: 'GET',
      path: '/replays',
      async handle({ query }) {
        const { limit = 50, cursor } = readQuery(LIST_QUERY, query);
        return ok(await replays.page({ limit, cursor }));
      },
    },
    {
      method: 'GET',
      path: '/replays/:id',
      async handle({ params: { id = '' }, query }) {
        readQuery(z.strictObject({}), query);
        const view = (await replays.view(id)) ?? unknownReplay();
        const failures = view.failed > 0 ? await replays.failures(id) : [];
        return ok({ ...view, failures: failures.slice(0, SHOWN_FAILURES).map(shownFailure) });
      },
    },
    {
      method: 'GET',
      path: '/replays/:id/failures',
      async handle({ params: { id = '' }, query }) {
        const { limit = 50, cursor } = readQuery(LIST_QUERY, query);
        if ((await replays.view(id)) === null) unknownReplay();
        const failures = await replays.failures(id);
        const start = cursor === undefined ? 0 : placeOf(cursor);
        const page = failures.slice(start, start + limit);
        const more = start + page.length < failures.length;
        return ok({
          failures: page.map(shownFailure),
          nextCursor: more ? String(start + page.length) : null,
        });
      },
    },
    {
      method: 'DELETE',
      path: '/replays/:id',
      takes: 'json',
      async handle({ params: { id = '' }, query, body, actor }) {
        const asked = readQuery(REASON, query).reason;
        const { reason = asked ?? null } = readBody(REASON, body);
        return ok((await replays.cancel(id, { actor, reason })) ?? unknownReplay());
      },
    },
  ];
}

function shownFailure({ item, jobId, outcome, reason }: ReplayFailure) {
  return { item, jobId, outcome, reason };
}

/** Failures are kept in the order they came, and none goes while the replay runs. */
function placeOf(cursor: string): number {
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}

function unknownReplay(): never {
  throw new Problem('not-found', 'There is no such replay.');
}
