import pLimit from 'p-limit';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type DeadCause, type DeadFacts, deadCauses, deadFacts } from './dead-causes.js';
import { deadEventIds, readDeadEvent } from './dead-events.js';

/** Dead events counted per subscriber: more of them say the same, and each thousand is a listing. */
const MAX_COUNTED = 1000;
/** Events that are remembered: an open dashboard counts every few seconds. */
const MAX_REMEMBERED = 10_000;
const READ_AT_ONCE = 16;

/** Methods reject with `StoreError`. */
export interface DeadEventCounter {
  /** Dead events of a subscriber that belong to sources of the scope, at most 1,000. */
  count(subscriber: string, scope: SourceScope): Promise<number>;
  /** Their causes, with the same bound. */
  causes(subscriber: string, scope: SourceScope): Promise<DeadCause[]>;
}

type Known = DeadFacts & { readonly source: string | null };

export function createDeadEventCounter(store: ObjectStore): DeadEventCounter {
  /** By subscriber and id: a dead event does not change. */
  const known = new Map<string, Known>();
  const limited = pLimit(READ_AT_ONCE);

  /** Null for an event that was sent meanwhile. */
  async function factsOf(subscriber: string, id: string): Promise<Known | null> {
    const name = `${subscriber}/${id}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    const dead = await readDeadEvent(store, subscriber, id);
    if (dead === null) return null;
    const [oldest] = known.keys();
    if (known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
    const facts = { ...deadFacts(dead), source: dead.event.data.source };
    known.set(name, facts);
    return facts;
  }

  async function idsOf(subscriber: string, scope: SourceScope): Promise<string[]> {
    const ids: string[] = [];
    for await (const id of deadEventIds(store, subscriber)) {
      ids.push(id);
      if (scope === null && ids.length === MAX_COUNTED) break;
    }
    return ids;
  }

  async function inScope(subscriber: string, scope: SourceScope): Promise<Known[]> {
    const ids = await idsOf(subscriber, scope);
    const found = await Promise.all(ids.map((id) => limited(() => factsOf(subscriber, id))));
    return found
      .filter((facts) => facts !== null)
      .filter(({ source }) => isInScope(scope, source))
      .slice(0, MAX_COUNTED);
  }

  return {
    async count(subscriber, scope) {
      if (scope === null) return (await idsOf(subscriber, scope)).length;
      return (await inScope(subscriber, scope)).length;
    },
    causes: async (subscriber, scope) => deadCauses(await inScope(subscriber, scope)),
  };
}
