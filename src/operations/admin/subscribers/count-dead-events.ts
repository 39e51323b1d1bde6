import pLimit from 'p-limit';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { SentQuestions } from '../../../index/sent/sent-questions.js';
import { inGroups } from '../../../store/in-groups.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { deadEventIds, readDeadEvent } from '../../../subscribers/dead/dead-events.js';
import { type DeadFacts, deadFacts } from '../../../subscribers/dead/dead-facts.js';
import type { DeadEvents } from '../api/answers/subscribers.js';

type DeadCause = DeadEvents['causes'][number];

/** The events of a subscriber that ended without being sent, as the store holds them. Methods reject with `StoreError` and `IndexError`. */
export interface DeadEventCounter {
  /** How many, by source. */
  bySource(
    subscriber: string,
    scope: SourceScope,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string | null, number>>;
  /** What they have in common, the largest group first. */
  causes(subscriber: string, scope: SourceScope, signal?: AbortSignal): Promise<DeadCause[]>;
}

/** Dead events of one source and cause. */
interface Group extends Omit<DeadCause, 'answer'> {
  readonly source: string | null;
  readonly lastId: string;
}

type Known = DeadFacts & { readonly source: string | null };

/** Keys of one listing. */
const LISTED = 1000;
const READ_AT_ONCE = 16;
/** Events that the index does not know: older than it reaches, or ended by a process that was killed. */
const MAX_REMEMBERED = 10_000;

/**
 * Counts all: a thousand take a listing, and the index knows their sources. A count stays good for a millisecond for each event, so that an
 * open page does not list for ever.
 */
export function createDeadEventCounter(
  store: ObjectStore,
  sent: Pick<SentQuestions, 'facts'>,
): DeadEventCounter {
  const oneAtATime = pLimit(1);
  const remembered = new Map<string, Known>();
  const counted = new Map<
    string,
    { readonly at: number; readonly events: number; readonly groups: Group[] }
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
    const facts = { ...deadFacts(dead), source: dead.event.data.source };
    remembered.set(name, facts);
    return facts;
  }

  async function* factsOf(
    subscriber: string,
    ids: readonly string[],
  ): AsyncGenerator<Known & { readonly id: string }> {
    const known = new Map<string, Known>();
    for (const { event, source, status, error, at } of await sent.facts(subscriber, ids))
      known.set(event, { source, code: String(status ?? error), endedAt: new Date(at).toISOString() });
    for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
      const some = ids.slice(start, start + READ_AT_ONCE);
      const facts = await Promise.all(some.map((id) => known.get(id) ?? read(subscriber, id)));
      for (const [index, id] of some.entries()) {
        const own = facts[index];
        if (own) yield { ...own, id };
      }
    }
  }

  /** One after the other: those that waited mostly find a count that is still good. */
  const count = (subscriber: string, signal?: AbortSignal) =>
    oneAtATime(() => countUnlessKnown(subscriber, signal));

  async function countUnlessKnown(subscriber: string, signal?: AbortSignal): Promise<Group[]> {
    signal?.throwIfAborted();
    const last = counted.get(subscriber);
    if (last !== undefined && performance.now() - last.at < last.events) return last.groups;
    const groups = new Map<string, Group>();
    let events = 0;
    for await (const ids of inGroups(deadEventIds(store, subscriber, { signal }), LISTED)) {
      for await (const { id, source, code, endedAt } of factsOf(subscriber, ids)) {
        const name = JSON.stringify([source, code]);
        groups.set(name, added(groups.get(name), { source, code, endedAt, id }));
      }
      events += ids.length;
      signal?.throwIfAborted();
    }
    counted.set(subscriber, { at: performance.now(), events, groups: [...groups.values()] });
    return [...groups.values()];
  }

  return {
    async bySource(subscriber, scope, signal) {
      const counts = new Map<string | null, number>();
      for (const { source, count: events } of await count(subscriber, signal))
        if (isInScope(scope, source)) counts.set(source, (counts.get(source) ?? 0) + events);
      return counts;
    },
    async causes(subscriber, scope, signal) {
      const causes = new Map<string, Omit<Group, 'source'>>();
      for (const { source, ...group } of await count(subscriber, signal))
        if (isInScope(scope, source)) causes.set(group.code, joined(causes.get(group.code), group));
      const answered = [...causes.values()].map(async ({ lastId, ...cause }): Promise<DeadCause> => {
        const last = await readDeadEvent(store, subscriber, lastId);
        return { ...cause, answer: last?.history.at(-1)?.answer ?? null };
      });
      return (await Promise.all(answered)).sort(
        (one, other) => other.count - one.count || (one.code < other.code ? -1 : 1),
      );
    },
  };
}

function added(
  known: Group | undefined,
  { source, code, endedAt, id }: Known & { readonly id: string },
): Group {
  const one = { code, count: 1, first: endedAt, last: endedAt, lastId: id };
  return { ...joined(known, one), source };
}

type Joined = Omit<Group, 'source'>;

function joined(known: Joined | undefined, group: Joined): Joined {
  if (known === undefined) return group;
  const isLast = group.last >= known.last;
  return {
    code: known.code,
    count: known.count + group.count,
    first: group.first < known.first ? group.first : known.first,
    last: isLast ? group.last : known.last,
    lastId: isLast ? group.lastId : known.lastId,
  };
}
