import { expect } from '@jest/globals';
import { announcedEvent } from '../../../src/domain/announced-event.js';
import type { SourceScope } from '../../../src/domain/rights.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import type { UntriedEvents } from '../../../src/index/sent/count-untried.js';
import type { EventPosition, EventQuery, IndexedEvent } from '../../../src/index/sent/sent-events.js';
import { HOUR, hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { DrawnQuery } from './expect-answers.js';
import { FIRST, type Placed, type PlacedAttempt } from './indexed-ledger.js';

const RANKS = { delivered: 2, rejected: 1, expired: 1, failed: -1, dropped: 1 };

function groupsOf<T, Key>(entries: readonly T[], keyOf: (entry: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const entry of entries) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry]);
  return groups;
}

/** What became of each event, by a plain loop over all attempts; newest first. */
function eventsOf(attempts: readonly PlacedAttempt[]): IndexedEvent[] {
  const events = groupsOf(attempts, ({ subscriber, attempt }) => `${subscriber} ${attempt.event}`);
  const found = [...events.values()].map((own): IndexedEvent => {
    const rankOf = ({ attempt: { ended } }: PlacedAttempt) => (ended === null ? 0 : RANKS[ended]);
    const [first] = own.toSorted(
      (a, b) => rankOf(b) - rankOf(a) || (a.attempt.at < b.attempt.at ? 1 : -1),
    ) as [PlacedAttempt];
    const { event, jobId: job, source, type, at, status, error, ended, durationMs } = first.attempt;
    return {
      subscriber: first.subscriber,
      event,
      job,
      source,
      type,
      at: Date.parse(at),
      status,
      error,
      outcome: ended ?? 'waiting',
      duration: durationMs,
      attempts: own.filter(({ attempt }) => attempt.attempt > 0).length,
    };
  });
  return found.sort((a, b) => b.at - a.at);
}

function pagesOf(index: LedgerIndex, query: EventQuery): IndexedEvent[] {
  const found: IndexedEvent[] = [];
  for (let before: EventPosition | undefined; ; ) {
    const page = index.findEvents({ ...query, before });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < query.limit) return found;
    before = [last.at, last.event];
  }
}

function figuresOf(events: readonly IndexedEvent[], attempts: readonly PlacedAttempt[]) {
  const bySource = groupsOf(attempts, ({ attempt }) => attempt.source);
  return [...bySource].flatMap(([source, own]) => {
    const delivered = events
      .filter((each) => each.source === source && each.outcome === 'delivered')
      .map(({ at }) => at);
    const failed = own
      .map(({ attempt }) => attempt)
      .filter(({ ended }) => ended !== 'delivered' && ended !== 'dropped')
      .sort((a, b) => (a.at < b.at ? 1 : -1));
    const [last] = failed;
    const retried = own.filter(({ attempt }) => attempt.attempt > 1).length;
    if (delivered.length + retried === 0 && last === undefined) return [];
    return {
      source,
      delivered: delivered.length,
      retried,
      lastDelivered: delivered.length === 0 ? null : Math.max(...delivered),
      lastFailure: last ? { at: Date.parse(last.at), status: last.status, error: last.error } : null,
    };
  });
}

/** The events that wait behind a position that is within an hour, or at its beginning. */
function behindOf(
  lines: readonly Placed[],
  attempts: readonly PlacedAttempt[],
  { before, number, sources }: { before: number; number: number; sources: readonly string[] },
): UntriedEvents[] {
  const isBehind = (place: Placed['place']) =>
    place.hour >= before && (place.hour > before || place.writer !== 'one' || place.number > number);
  const wanted = lines.filter(
    ({ place, line }) =>
      isBehind(place) &&
      announcedEvent(line) !== null &&
      (sources.length === 0 || (line.source !== null && sources.includes(line.source))),
  );
  const keyOf = ({ place }: Placed) => segmentKey({ ...place, hour: hourAt(place.hour) });
  const groups = groupsOf(wanted, (each) =>
    JSON.stringify([each.line.source, each.place.hour === before ? keyOf(each) : null]),
  );
  const left = [...groups].flatMap(([name, own]): UntriedEvents[] => {
    const [source, key] = JSON.parse(name) as [string | null, string | null];
    const isOfGroup = ({ attempt }: PlacedAttempt) =>
      attempt.source === source &&
      (key === null ? (attempt.line ?? '') >= `ledger/${hourAt(before + HOUR)}` : attempt.line === key);
    const tried = new Set(attempts.filter(isOfGroup).map(({ attempt }) => attempt.event)).size;
    if (tried >= own.length) return [];
    return [
      { source, events: own.length - tried, oldest: Math.min(...own.map(({ place }) => place.written)) },
    ];
  });
  return [...groupsOf(left, ({ source }) => source)].map(([source, own]) => ({
    source,
    events: own.reduce((sum, { events }) => sum + events, 0),
    oldest: Math.min(...own.map(({ oldest }) => oldest)),
  }));
}

const bySource = (a: { source: string | null }, b: { source: string | null }) =>
  String(a.source) < String(b.source) ? -1 : 1;

/** What a subscriber was sent, and what waits for it, as a plain loop over all attempts and lines gives it. */
export function expectEvents(
  index: LedgerIndex,
  lines: readonly Placed[],
  attempts: readonly PlacedAttempt[],
  queries: readonly DrawnQuery[],
): void {
  const events = eventsOf(attempts);
  for (const job of ['Alpha', 'beta'])
    expect(index.eventsOfJob(job)).toEqual(events.filter((each) => each.job === job).reverse());
  for (const subscriber of ['crm', 'erp']) {
    const own = events.filter((each) => each.subscriber === subscriber);
    const tried = attempts.filter((each) => each.subscriber === subscriber);
    expect(index.eventFigures(subscriber).sort(bySource)).toEqual(figuresOf(own, tried).sort(bySource));
    const ids = own.map(({ event }) => event);
    const sources = own.map(({ event, source }) => ({ event, source }));
    expect(index.sourcesOfEvents(subscriber, [...ids, 'unknown'])).toEqual(expect.arrayContaining(sources));
    for (const { since, until, limit, source, scope, ...drawn } of queries) {
      const job = drawn.job ?? undefined;
      const from = since === undefined ? undefined : FIRST + since;
      const to = until === undefined ? undefined : FIRST + until;
      const outcome = ([undefined, 'delivered', 'waiting', 'rejected'] as const)[limit % 4];
      const isWithin = (given: SourceScope | undefined, name: string | null) =>
        given == null || (name !== null && given.has(name));
      const expected = own.filter(
        (each) =>
          (job === undefined || each.job === job) &&
          (outcome === undefined || each.outcome === outcome) &&
          (source === undefined || each.source === source) &&
          isWithin(scope, each.source) &&
          (from === undefined || each.at >= from) &&
          (to === undefined || each.at < to),
      );
      const query = { subscriber, job, outcome, source, scope, since: from, until: to, limit };
      expect(pagesOf(index, query)).toEqual(expected);
      const before = FIRST + (limit % 4) * HOUR;
      const sources = source === undefined ? [] : [source];
      const number = limit % 3;
      const position = { before, hours: { [hourAt(before)]: { one: number } } };
      const names = ['job.stored', 'job.failed', 'job.erased'];
      expect(index.countUntried({ subscriber, events: names, sources, ...position }).sort(bySource)).toEqual(
        behindOf(lines, tried, { before, number, sources }).sort(bySource),
      );
    }
  }
}
