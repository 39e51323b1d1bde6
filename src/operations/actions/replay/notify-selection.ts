import { decodeTime } from 'ulid';
import { Problem } from '../../../domain/problem.js';
import { followsAnyInScope } from '../../../domain/rights.js';
import { writtenRange } from '../../../index/questions/find-deliveries.js';
import { isWanted, jobEventOf } from '../../../subscribers/job-event.js';
import type { JobEvent } from '../../../subscribers/receiver-event.js';
import { formatNotifyItem, type NotifyParts } from './notify-item.js';
import { type ReplaySelection, type ReplaySelector, scopeOf } from './replay-state.js';
import { selectorMatch } from './selector-match.js';

const DEAD_AT_ONCE = 1000;

/**
 * Selects events of one subscriber, or of all when none is named: with `dead` dead events, otherwise events of ledger lines. Only events
 * that the subscriber wants are selected.
 *
 * @param limit the search stops once more are found
 * @param signal aborts the search
 */
export async function selectEvents(
  parts: NotifyParts,
  selector: ReplaySelector,
  limit: number,
  signal?: AbortSignal,
): Promise<ReplaySelection> {
  const names = namesOf(parts, selector);
  const wanted = selector.events && new Set(selector.events);
  const events = selector.dead
    ? deadEvents(parts, names, selector, signal)
    : ledgerEvents(parts, names, withRange(selector));
  // Keeps only ids and sizes, because there may be many events.
  const found = new Map<string, { readonly jobId: string; readonly bytes: number }>();
  for await (const { subscriber, event } of events) {
    signal?.throwIfAborted();
    if (wanted?.has(event.id) === false) continue;
    const receivedAt = selector.dead ? 'dead' : event.time;
    const { jobId } = event.data;
    const item = formatNotifyItem({ subscriber, receivedAt, eventId: event.id, jobId });
    found.set(item, { jobId, bytes: Buffer.byteLength(JSON.stringify(event)) });
    if (found.size > limit) break;
  }
  // Oldest first, the order in which they were first sent.
  const selected = selector.dead ? [...found] : [...found].reverse();
  return {
    items: selected.map(([item]) => item),
    jobs: [...new Set(selected.map(([, { jobId }]) => jobId))],
    bytes: selected.reduce((sum, [, { bytes }]) => sum + bytes, 0),
  };
}

/** The selected subscriber, else all that the client may see. */
function namesOf({ subscribers }: NotifyParts, selector: ReplaySelector): readonly string[] {
  const { subscriber } = selector;
  const names = [...subscribers].flatMap(([name, { sources }]) =>
    followsAnyInScope(scopeOf(selector), sources) ? [name] : [],
  );
  if (names.length > 0 && subscriber === undefined) return names;
  if (subscriber !== undefined && names.includes(subscriber)) return [subscriber];
  const known = names.length === 0 ? 'none is configured' : `known are ${names.join(', ')}`;
  const named = subscriber === undefined ? '' : `${JSON.stringify(subscriber.slice(0, 64))} is not known; `;
  throw new Problem('request-invalid', `subscriber: ${named}${known}.`);
}

/** Narrows the time range by the ids of events, which contain the time of receipt. */
function withRange({ events = [], ...selector }: ReplaySelector): ReplaySelector {
  if (events.length === 0) return selector;
  const { since, until } = writtenRange(events.map((id) => decodeTime(id)));
  return { ...selector, since: selector.since ?? since, until: selector.until ?? until };
}

interface SelectedEvent {
  readonly subscriber: string;
  readonly event: JobEvent;
}

/** Newest first. The ledger is read once, however many subscribers there are. */
async function* ledgerEvents(
  { subscribers, view, store }: NotifyParts,
  names: readonly string[],
  selector: ReplaySelector,
): AsyncGenerator<SelectedEvent> {
  const { jobs, since, until, source, region, status, outcome, context } = selector;
  const filters = { since, until, source, region, status, outcome, context };
  if (jobs === undefined && Object.values(filters).every((value) => value === undefined)) {
    throw new Problem(
      'request-invalid',
      'A replay of events needs jobs, events, a time or another filter, or only those not sent (dead).',
    );
  }
  const named = jobs === undefined ? null : new Set(jobs);
  // The index finds the lines of a single job without scanning the range.
  const job = jobs?.length === 1 ? jobs[0] : undefined;
  await view.requireReach(filters);
  for await (const lines of view.lines({ ...filters, job, scope: scopeOf(selector) })) {
    for (const line of lines) {
      if (named !== null && !(line.jobId !== null && named.has(line.jobId))) continue;
      const event = jobEventOf(line, store.location);
      if (event === null) continue;
      for (const subscriber of names) {
        const filter = subscribers.get(subscriber);
        if (filter !== undefined && isWanted(event, filter)) yield { subscriber, event };
      }
    }
  }
}

/** Dead events, subscriber by subscriber, oldest first. */
async function* deadEvents(
  { outbox }: NotifyParts,
  names: readonly string[],
  selector: ReplaySelector,
  signal: AbortSignal | undefined,
): AsyncGenerator<SelectedEvent> {
  const scope = scopeOf(selector);
  const isSelected = selectorMatch(selector);
  for (const subscriber of names) {
    let cursor: string | undefined;
    do {
      const page = await outbox.deadEvents(subscriber, { limit: DEAD_AT_ONCE, cursor, scope, signal });
      for (const { event } of page.deadEvents)
        if (isSelected({ ...event.data, time: event.time })) yield { subscriber, event };
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
