import { decodePlace, encodePlace, pageOf } from '../../lib/text/list-cursor.js';
import { instantsOf } from '../../lib/time/instant.js';
import type { IndexCalls } from '../index-calls.js';
import { COUNTED_PER_MS, createCachedCounts } from '../questions/cached-counts.js';
import type { UntriedEvents, UntriedQuery } from './count-untried.js';
import type { EventPosition, EventQuery, IndexedEvent } from './sent-events.js';

/** Filters of the list of a subscriber's events; an absent filter matches everything. */
export interface SentQuery extends Omit<EventQuery, 'since' | 'until' | 'before'> {
  /** ISO 8601; by the time of the attempt, from `since` until before `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface SentPage {
  /** Newest first. */
  readonly events: readonly IndexedEvent[];
  readonly nextCursor: string | null;
}

export type SentQuestions = ReturnType<typeof createSentQuestions>;

/**
 * Questions about events that were sent to subscribers, answered from the attempts on record. All reject with `IndexError`.
 *
 * @param clock in milliseconds since the epoch
 */
export function createSentQuestions(index: IndexCalls, clock: () => number) {
  const counted = createCachedCounts<readonly UntriedEvents[], UntriedQuery>(
    (found) => found.reduce((sum, { events }) => sum + events, 0) / COUNTED_PER_MS,
    (_now, query) => index.call('countUntried', query),
    clock,
  );

  return {
    /** The tried events of a job for all subscribers, oldest first. */
    ofJob: (job: string) => index.call('eventsOfJob', job),
    /** Rejects with `Problem` `request-invalid` for bad instants and cursors. */
    async page({ cursor, limit, ...query }: SentQuery): Promise<SentPage> {
      const found = await index.call('findEvents', {
        ...query,
        ...instantsOf(query),
        before: cursor === undefined ? undefined : positionOf(cursor),
        limit: limit + 1,
      });
      const page = pageOf(found, limit, ({ at, event }) => encodePlace('events', [at, event]));
      return { events: page.rows, nextCursor: page.nextCursor };
    },
    /** Figures by source. */
    figures: (subscriber: string) => index.call('eventFigures', subscriber),
    /** Untried events after the position of a sender, by source. A large count is cached for a while. */
    untried: (query: UntriedQuery) => counted(query.subscriber, query),
    /** The sources of some events of a subscriber; events that were never tried are left out. */
    sources: (subscriber: string, events: readonly string[]) =>
      index.call('sourcesOfEvents', subscriber, events),
  };
}

/** Throws `Problem` `request-invalid` for a foreign cursor. */
function positionOf(cursor: string): EventPosition {
  return decodePlace('events', cursor, ([at, event]) =>
    Number.isSafeInteger(at) && typeof event === 'string' ? [Number(at), event] : null,
  );
}
