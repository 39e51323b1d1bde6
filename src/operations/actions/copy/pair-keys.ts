import { compareKeys } from '../../../store/object-key.js';
import type { ListedObject } from '../../../store/object-store.js';

/** The objects of two stores at one key; at least one exists. */
export interface KeyPair {
  readonly key: string;
  readonly source: ListedObject | null;
  readonly copy: ListedObject | null;
}

/** Joins two listings in key order. Changes at keys already yielded do not appear. */
export async function* pairKeys(
  sources: AsyncIterable<ListedObject>,
  copies: AsyncIterable<ListedObject>,
): AsyncGenerator<KeyPair> {
  const left = sources[Symbol.asyncIterator]();
  const right = copies[Symbol.asyncIterator]();
  try {
    let [source, copy] = await Promise.all([next(left), next(right)]);
    while (source !== null || copy !== null) {
      const order = orderOf(source, copy);
      const pair = { source: order <= 0 ? source : null, copy: order >= 0 ? copy : null };
      const key = pair.source?.key ?? pair.copy?.key;
      if (key !== undefined) yield { key, ...pair };
      if (order <= 0) source = await next(left);
      if (order >= 0) copy = await next(right);
    }
  } finally {
    await Promise.all([left.return?.(), right.return?.()]);
  }
}

async function next(iterator: AsyncIterator<ListedObject>): Promise<ListedObject | null> {
  const result = await iterator.next();
  return result.done ? null : result.value;
}

/** Compares keys; the end of a listing sorts last. */
function orderOf(source: ListedObject | null, copy: ListedObject | null): number {
  if (source === null) return 1;
  return copy === null ? -1 : compareKeys(source.key, copy.key);
}
