import { Problem } from '../../../domain/problem.js';
import type { BodyPage, LedgerView } from '../../../index/ledger-view.js';
import { instantOf, instantsOf } from '../../../lib/time/instant.js';
import type { NotifyParts } from './notify-item.js';
import { selectEvents } from './notify-selection.js';
import { type ReplaySelection, type ReplaySelector, scopeOf } from './replay-state.js';
import { selectorMatch } from './selector-match.js';

export interface SelectionParts {
  readonly view: Pick<LedgerView, 'lines' | 'requireReach' | 'refresh' | 'allFailing' | 'bodies'>;
  readonly notify: NotifyParts;
}

const MAX_REPLAY_ITEMS = 100_000;
/** Quarantined bodies per page of the listing. */
const BODIES_AT_ONCE = 500;

/**
 * Throws `request-invalid` for invalid and contradictory filters, for a refetch of everything, and for too many items.
 *
 * @param signal aborts the selection
 */
export async function selectItems(
  parts: SelectionParts,
  selector: ReplaySelector,
  signal?: AbortSignal,
): Promise<ReplaySelection> {
  instantsOf(selector);
  const selection = await selectByKind(parts, selector, signal);
  if (selection.items.length <= MAX_REPLAY_ITEMS) return selection;
  throw new Problem('request-invalid', `More than ${MAX_REPLAY_ITEMS} are selected: narrow it down.`);
}

async function selectByKind(
  parts: SelectionParts,
  selector: ReplaySelector,
  signal: AbortSignal | undefined,
): Promise<ReplaySelection> {
  const { kind, subscriber, dead, events, cause } = selector;
  if (kind !== 'notify' && (subscriber !== undefined || dead !== undefined || events)) {
    throw new Problem('request-invalid', 'subscriber, dead and events belong to replays of the kind notify.');
  }
  if (cause !== undefined) return selectFailing(parts, selector, cause);
  if (kind === 'notify') return selectEvents(parts.notify, selector, MAX_REPLAY_ITEMS, signal);
  return kind === 'refetch' ? selectJobs(parts, selector, signal) : selectBodies(parts, selector, signal);
}

/** The jobs that currently fail for a cause. Throws `request-invalid` for filters that open failures do not have. */
async function selectFailing(
  { view }: SelectionParts,
  selector: ReplaySelector,
  cause: string,
): Promise<ReplaySelection> {
  const { kind, jobs: named, since, until, status, context, source, region, outcome } = selector;
  if (kind !== 'refetch' || [named, until, status, context].some((value) => value !== undefined))
    throw new Problem(
      'request-invalid',
      'cause selects failing jobs to refetch: leave jobs, until, status and context out.',
    );
  const filters = { cause, source, region, outcome, scope: scopeOf(selector) };
  const { jobs, bytes } = await view.allFailing({ ...filters, since: instantOf('since', since) });
  return { items: jobs, jobs, bytes };
}

/** Named jobs are selected even without a delivery, because all their callbacks may be lost. */
async function selectJobs(
  { view }: SelectionParts,
  selector: ReplaySelector,
  signal: AbortSignal | undefined,
): Promise<ReplaySelection> {
  const { kind: _kind, jobs, sources, ...filters } = selector;
  // A client that may see some sources cannot know whether a job without deliveries belongs to them.
  const filtered = sources !== undefined || Object.values(filters).some((value) => value !== undefined);
  if (jobs === undefined && !filtered) {
    throw new Problem('request-invalid', 'A refetch needs jobs or at least one filter.');
  }
  const named = jobs === undefined ? null : new Set(jobs);
  const bytes = new Map<string, number>(filtered ? [] : [...(named ?? [])].map((job) => [job, 0]));
  if (filtered) await view.requireReach(filters);
  for await (const lines of view.lines({ ...filters, scope: scopeOf(selector) })) {
    signal?.throwIfAborted();
    for (const { jobId, bytes: size } of lines) {
      if (jobId === null || (named !== null && !named.has(jobId))) continue;
      bytes.set(jobId, Math.max(bytes.get(jobId) ?? 0, Number(size) || 0));
    }
    if (bytes.size > MAX_REPLAY_ITEMS) break;
  }
  const items = [...bytes.keys()];
  return { items, jobs: items, bytes: [...bytes.values()].reduce((sum, size) => sum + size, 0) };
}

async function selectBodies(
  { view }: SelectionParts,
  selector: ReplaySelector,
  signal: AbortSignal | undefined,
): Promise<ReplaySelection> {
  const isSelected = selectorMatch(selector);
  const jobs = new Set<string>();
  const items: string[] = [];
  let bytes = 0;
  await view.requireReach({ since: selector.since, until: selector.until });
  await view.refresh();
  const query = { state: 'waiting', limit: BODIES_AT_ONCE, scope: scopeOf(selector), signal } as const;
  for (let cursor: string | null = null; ; ) {
    const page: BodyPage = await view.bodies({ ...query, cursor: cursor ?? undefined });
    for (const { deliveryId, line } of page.bodies) {
      if (line === null || line.jobId === null) continue;
      const { jobId, receivedAt: time, context = null } = line;
      if (!isSelected({ ...line, jobId, time, context })) continue;
      items.push(deliveryId);
      jobs.add(jobId);
      bytes += Number(line.bytes) || 0;
    }
    cursor = page.nextCursor;
    if (cursor === null || items.length > MAX_REPLAY_ITEMS) break;
  }
  return { items: items.reverse(), bytes, jobs: [...jobs].reverse() };
}
