import pLimit from 'p-limit';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { SentQuestions } from '../../../index/sent/sent-questions.js';
import { inGroups } from '../../../store/in-groups.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { deadCause } from '../../../subscribers/dead/dead-cause.js';
import { deadEventIds, readDeadEvent } from '../../../subscribers/dead/dead-events.js';
import type { DeadEvents } from '../../answers/subscribers.js';

type DeadCause = DeadEvents['causes'][number];

export type DeadEventCounter = ReturnType<typeof createDeadEventCounter>;

/** What a count needs to know of an event. */
interface Known {
  readonly source: string | null;
  readonly code: string;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
}

/** Dead events of one source and cause. */
interface Group {
  readonly source: string | null;
  readonly code: string;
  count: number;
  first: number;
  last: number;
  /** The event that ended last. */
  lastId: string;
}

/** Keys of one listing. */
const LISTED = 1000;
const READ_AT_ONCE = 16;
/** Events that the index does not know: older than it reaches, or ended by a process that was killed. */
const MAX_REMEMBERED = 50_000;

/**
 * The events of a subscriber that ended without being sent, as the store holds them. Methods reject with `StoreError` and `IndexError`.
 *
 * Counts all dead events: a listing has a thousand, and the index knows their sources. A count is reused for one millisecond per event, so
 * that an open page does not keep listing.
 */
export function createDeadEventCounter(store: ObjectStore, sent: Pick<SentQuestions, 'facts'>) {
  const oneAtATime = pLimit(1);
  const remembered = new Map<string, Known>();
  const counted = new Map<
    string,
    { readonly at: number; readonly events: number; readonly groups: readonly Group[] }
  >();

  /** Null for an event that was sent meanwhile. */
  async function read(subscriber: string, id: string): Promise<Known | null> {
    const name = `${subscriber}/${id}`;
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const dead = await readDeadEvent(store, subscriber, id);
    if (dead === null) return null;
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    const facts = { source: dead.event.data.source, code: deadCause(dead), at: Date.parse(dead.endedAt) };
    remembered.set(name, facts);
    return facts;
  }

  /** What is known of events: those that were sent meanwhile are left out. */
  async function factsOf(
    subscriber: string,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, Known>> {
    const facts = new Map<string, Known>();
    for (const { event, source, status, error, at } of await sent.facts(subscriber, ids))
      facts.set(event, { source, code: String(status ?? error), at });
    await pLimit(READ_AT_ONCE).map(
      ids.filter((id) => !facts.has(id)),
      async (id) => {
        signal?.throwIfAborted();
        const known = await read(subscriber, id);
        if (known !== null) facts.set(id, known);
      },
    );
    return facts;
  }

  /** One after the other: those that waited mostly find a count that is still good. */
  const count = (subscriber: string, signal?: AbortSignal) =>
    oneAtATime(() => countUnlessKnown(subscriber, signal));

  async function countUnlessKnown(subscriber: string, signal?: AbortSignal): Promise<readonly Group[]> {
    signal?.throwIfAborted();
    const last = counted.get(subscriber);
    if (last !== undefined && performance.now() - last.at < last.events) return last.groups;
    const groups = new Map<string, Group>();
    let events = 0;
    for await (const ids of inGroups(deadEventIds(store, subscriber, { signal, anyOrder: true }), LISTED)) {
      for (const [id, facts] of await factsOf(subscriber, ids, signal)) add(groups, id, facts);
      events += ids.length;
      signal?.throwIfAborted();
    }
    counted.set(subscriber, { at: performance.now(), events, groups: [...groups.values()] });
    return [...groups.values()];
  }

  return {
    /** How many, by source. */
    async bySource(
      subscriber: string,
      scope: SourceScope,
      signal?: AbortSignal,
    ): Promise<ReadonlyMap<string | null, number>> {
      const counts = new Map<string | null, number>();
      for (const { source, count: events } of await count(subscriber, signal))
        if (isInScope(scope, source)) counts.set(source, (counts.get(source) ?? 0) + events);
      return counts;
    },
    /** What they have in common, the largest group first. */
    async causes(subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<DeadCause[]> {
      const visible = (await count(subscriber, signal)).filter(({ source }) => isInScope(scope, source));
      const codes = [...new Set(visible.map(({ code }) => code))];
      const causes = codes.map(async (code): Promise<DeadCause> => {
        const own = visible.filter((group) => group.code === code).sort((a, b) => b.last - a.last);
        const dead = own[0] && (await readDeadEvent(store, subscriber, own[0].lastId));
        return {
          code,
          count: own.reduce((sum, { count: events }) => sum + events, 0),
          first: new Date(Math.min(...own.map(({ first }) => first))).toISOString(),
          last: new Date(Math.max(...own.map(({ last }) => last))).toISOString(),
          answer: dead?.history.at(-1)?.answer ?? null,
        };
      });
      return (await Promise.all(causes)).sort(
        (one, other) => other.count - one.count || (one.code < other.code ? -1 : 1),
      );
    },
  };
}

function add(groups: Map<string, Group>, id: string, { source, code, at }: Known): void {
  const name = JSON.stringify([source, code]);
  const group = groups.get(name) ?? { source, code, count: 0, first: at, last: at, lastId: id };
  groups.set(name, group);
  group.count += 1;
  group.first = Math.min(group.first, at);
  if (at < group.last) return;
  group.last = at;
  group.lastId = id;
}
