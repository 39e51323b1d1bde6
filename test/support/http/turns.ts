import type { ObjectStore } from '../../../src/store/object-store.js';

/** Runs the store calls of several actors in a given order, which names the actor of each call by its letter. */
export interface Turns {
  readonly order: string;
  /** The letters of the order that were used: those of actors that had ended are skipped. */
  readonly used: string;
  /** Resolves when it is this actor's turn. An actor without remaining letters proceeds at once. */
  take(actor: string): Promise<void>;
  /** The actor has ended: its remaining letters are skipped. */
  leave(actor: string): void;
  /** A store whose calls take turns. */
  over(actor: string, store: ObjectStore): ObjectStore;
}

function createTurns(order: string): Turns {
  const left = [...order];
  let used = '';
  const gone = new Set<string>();
  const waiting: { readonly actor: string; readonly go: () => void }[] = [];

  function advance(): void {
    while (left[0] !== undefined && gone.has(left[0])) left.shift();
    const next = waiting.findIndex(({ actor }) => left[0] === actor || !left.includes(actor));
    if (next < 0) return;
    const [entry] = waiting.splice(next, 1);
    if (left[0] === entry?.actor) used += left.shift();
    entry?.go();
  }

  function take(actor: string): Promise<void> {
    return new Promise((go) => {
      waiting.push({ actor, go });
      setImmediate(advance);
    });
  }

  return {
    order,
    get used() {
      return used;
    },
    take,
    leave(actor) {
      gone.add(actor);
      setImmediate(advance);
    },
    over(actor, store) {
      const call = async <T>(work: () => Promise<T>): Promise<T> => {
        await take(actor);
        // The next actor proceeds when this call has taken effect.
        return work().finally(() => setImmediate(advance));
      };
      return {
        ...store,
        create: (...args) => call(() => store.create(...args)),
        replace: (...args) => call(() => store.replace(...args)),
        head: (key) => call(() => store.head(key)),
        delete: (key) => call(() => store.delete(key)),
        // An upload is not visible before it completes.
        async startUpload(key, headers) {
          const upload = await store.startUpload(key, headers);
          return { ...upload, complete: () => call(() => upload.complete()) };
        },
        async *list(prefix, options) {
          yield* await call(() => Array.fromAsync(store.list(prefix, options)));
        },
        async *folders(prefix) {
          yield* await call(() => Array.fromAsync(store.folders(prefix)));
        },
      };
    },
  };
}

/**
 * Turns for every order in which the calls of the actors can come. Orders that differ only in what an actor that has ended
 * would have done are given once: in most orders one ends early.
 *
 * @param counts the most calls of each actor
 */
export function* interleavings(counts: Readonly<Record<string, number>>): Generator<Turns> {
  const seen = new Set<string>();
  const limits = new Map<string, Readonly<Record<string, number>>>();
  for (const order of ordersOf(counts)) {
    if ([...limits.values()].some((limit) => seen.has(upTo(order, limit)))) continue;
    const turns = createTurns(order);
    yield turns;
    seen.add(turns.used);
    const limit = countsOf(turns.used);
    limits.set(JSON.stringify(limit), limit);
  }
}

function* ordersOf(counts: Readonly<Record<string, number>>, begun = ''): Generator<string> {
  const open = Object.keys(counts).filter((actor) => (counts[actor] ?? 0) > 0);
  if (open.length === 0) yield begun;
  for (const actor of open) yield* ordersOf({ ...counts, [actor]: (counts[actor] ?? 0) - 1 }, begun + actor);
}

function countsOf(letters: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const actor of [...letters].sort()) counts[actor] = (counts[actor] ?? 0) + 1;
  return counts;
}

/** The first letters of each actor, as many as the limit says. */
function upTo(order: string, limit: Readonly<Record<string, number>>): string {
  const left = { ...limit };
  return [...order]
    .filter((actor) => {
      left[actor] = (left[actor] ?? 0) - 1;
      return left[actor] >= 0;
    })
    .join('');
}
