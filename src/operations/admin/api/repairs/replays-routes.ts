import { z } from 'zod';
import { isJobId } from '../../../../domain/job.js';
import { Problem } from '../../../../domain/problem.js';
import type { SourceScope } from '../../../../domain/rights.js';
import { rejectUnknownNames } from '../../../../index/questions/filter-names.js';
import { isUlid } from '../../../../lib/text/id-cursor.js';
import { textInput } from '../../../../lib/text/read-input.js';
import { isReplayInScope } from '../../../actions/replay/replay-state.js';
import {
  type ReplayInFull,
  replayInFullSchema,
  replayPreviewSchema,
  replayStartedSchema,
  replaysSchema,
} from '../../../answers/replays.js';
import type { AdminServices } from '../../admin-services.js';
import { type AdminRoute, accepted, adminRoute, ok } from '../admin-route.js';
import {
  contextFilter,
  lineFilters,
  page,
  RANGE,
  REASON_QUERY,
  reason,
  reasonBody,
} from '../request-schemas.js';

const PREVIEWED_JOBS = 100;
const MAX_NAMED_JOBS = 10_000;
const MAX_NAMED_EVENTS = 200;

const replayOrder = z
  .strictObject({
    selector: z
      .strictObject({
        kind: z
          .enum(['refetch', 'release', 'notify'])
          .describe('fetch jobs from the service, decode quarantined bodies again, or send events again'),
        subscriber: textInput.optional().describe('notify: only to this subscriber'),
        dead: z.literal(true).optional().describe('notify: only events that ended without being sent'),
        jobs: z
          .array(z.string().refine(isJobId, 'is no job id'))
          // An empty list of a program must not select all jobs.
          .min(1)
          .max(MAX_NAMED_JOBS)
          .optional(),
        events: z
          .array(z.string().refine(isUlid, 'is no event id'))
          .min(1)
          .max(MAX_NAMED_EVENTS)
          .optional()
          .describe('notify: ids of events'),
        ...RANGE,
        ...lineFilters(['source', 'region', 'status', 'outcome']),
        context: contextFilter,
        cause: textInput
          .optional()
          .describe('refetch: the jobs that fail for this cause, as `causes` of GET /failures has it'),
      })
      .meta({ id: 'ReplaySelector' }),
    dryRun: z.boolean().default(false).describe('only say what would be replayed'),
    reason,
  })
  .meta({
    id: 'ReplayOrder',
    examples: [{ selector: { kind: 'refetch', outcome: 'failed', since: '2026-03-04' }, dryRun: true }],
  });

export function replaysRoutes({ replays, fresh, names, view }: AdminServices): AdminRoute[] {
  async function viewInScope(id: string, scope: SourceScope): Promise<ReplayInFull | null> {
    const replay = await replays.view(id);
    return replay !== null && isReplayInScope(replay.selector, scope) ? replay : null;
  }

  return [
    adminRoute({
      method: 'POST',
      path: '/replays',
      right: 'repair',
      tag: 'Replays',
      summary: 'Preview a replay, or start it',
      body: replayOrder,
      answers: { 200: replayPreviewSchema, 202: replayStartedSchema },
      problems: ['conflict', 'overloaded'],
      async handle({ body: { selector: asked, dryRun, reason = null }, actor, access: { scope }, signal }) {
        await fresh();
        await rejectUnknownNames(asked, names, view, scope);
        const selector = scope === null ? asked : { ...asked, sources: [...scope].sort() };
        if (!dryRun) return accepted({ replayId: await replays.create(selector, { actor, reason }) });
        const { items, bytes, jobs } = await replays.preview(selector, signal);
        return ok({ count: items.length, bytes, jobs: jobs.slice(0, PREVIEWED_JOBS) });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/replays',
      right: 'view',
      tag: 'Replays',
      summary: 'Replays, newest first, as far back as the index reaches',
      query: page(50),
      answers: { 200: replaysSchema },
      async handle({ query, access: { scope }, signal }) {
        await fresh();
        return ok(await replays.page({ ...query, scope, signal }));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/replays/:id',
      right: 'view',
      tag: 'Replays',
      summary: 'The progress of a replay, and the first items that failed',
      answers: { 200: replayInFullSchema },
      problems: ['not-found'],
      async handle({ params: { id = '' }, access: { scope } }) {
        return ok((await viewInScope(id, scope)) ?? unknownReplay());
      },
    }),
    adminRoute({
      method: 'DELETE',
      path: '/replays/:id',
      right: 'repair',
      tag: 'Replays',
      summary: 'Cancel a replay; processed items stay as they are',
      query: REASON_QUERY,
      body: reasonBody,
      answers: { 200: replayInFullSchema },
      problems: ['not-found', 'conflict'],
      async handle({ params: { id = '' }, query, body, actor, access: { scope } }) {
        if ((await viewInScope(id, scope)) === null) unknownReplay();
        const reason = body.reason ?? query.reason ?? null;
        return ok((await replays.cancel(id, { actor, reason })) ?? unknownReplay());
      },
    }),
  ];
}

function unknownReplay(): never {
  throw new Problem('not-found', 'There is no such replay.');
}
