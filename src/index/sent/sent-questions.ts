import type { SourceScope } from '../../domain/rights.js';
import { instantOf } from '../../lib/text/instant-of.js';
import type { IndexCalls } from '../index-calls.js';
import { badCursor } from '../questions/line-cursor.js';
import type { BehindQuery, CountedBehind } from './count-behind.js';
import type { EventFigures } from './event-figures.js';
import type { EventOutcome, EventPosition, IndexedEvent } from './sent-events.js';

/** Filters of the list of a subscriber's events; an absent filter matches everything. */
export interface SentQuery {
  readonly subscriber: string;
  readonly job?: string | undefined;
  readonly outcome?: EventOutcome | undefined;
  readonly source?: string | undefined;
  readonly scope?: SourceScope | undefined;
  /** ISO 8601; by the time of the attempt, from `since` until before `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface SentPage {
  /** Newest first. */
  readonly events: readonly IndexedEvent[];
  readonly nextCursor: string | null;
}

/** What was sent to subscribers, by the attempts on record. All reject with `IndexError`. */
export interface SentQuestions {
  /** The events of a job that were tried, to all subscribers, oldest first. */
  ofJob(job: string): Promise<readonly IndexedEvent[]>;
  /** Rejects with `Problem` `request-invalid` for bad instants and cursors. */
  page(query: SentQuery): Promise<SentPage>;
  /** By source. */
  figures(subscriber: string): Promise<readonly EventFigures[]>;
  /** Events behind the position of a sender that were not tried, by source. */
  behind(query: BehindQuery): Promise<readonly CountedBehind[]>;
  /** What is known of some events of a subscriber; those that were never tried are left out. */
  facts(
    subscriber: string,
    events: readonly string[],
  ): Promise<readonly Pick<IndexedEvent, 'event' | 'source' | 'status' | 'error' | 'at'>[]>;
}

export function createSentQuestions(index: IndexCalls): SentQuestions {
  return {
    ofJob: (job) => index.call('eventsOfJob', job),
    async page({ cursor, limit, ...query }) {
      const found = await index.call('findEvents', {
        ...query,
        since: instantOf('since', query.since),
        until: instantOf('until', query.until),
        before: cursor === undefined ? undefined : positionOf(cursor),
        limit: limit + 1,
      });
      const events = found.slice(0, limit);
      const last = events.at(-1);
      const hasMore = last !== undefined && found.length > limit;
      return { events, nextCursor: hasMore ? cursorOf([last.at, last.event]) : null };
    },
    figures: (subscriber) => index.call('eventFigures', subscriber),
    behind: (query) => index.call('countBehind', query),
    facts: (subscriber, events) => index.call('factsOfEvents', subscriber, events),
  };
}

function cursorOf(position: EventPosition): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Throws `Problem` `request-invalid` for a cursor that `cursorOf` did not make. */
function positionOf(cursor: string): EventPosition {
  try {
    const [at, event] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (Number.isSafeInteger(at) && typeof event === 'string') return [Number(at), event];
  } catch {
    // Falls through to the error for every bad cursor.
  }
  throw badCursor();
}
