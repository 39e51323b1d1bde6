import { isStandIn } from '../../../domain/kinds.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { ExpectedItem } from '../expectation.js';
import type { JobOptions } from '../recovery-parts.js';

/** The keys of those items that the store holds. With `again`, items that can be fetched and compared are left out. */
export async function presentKeys(
  store: ObjectStore,
  items: readonly ExpectedItem[],
  { again, looking }: Pick<JobOptions, 'again' | 'looking'>,
): Promise<ReadonlySet<string>> {
  // The record that replaces a jobinfo changes with time: comparing it would make false conflicts.
  const asked = items.filter(({ kind }) => !again || isStandIn(kind));
  const found = await Promise.allSettled(asked.map(({ key }) => looking(() => store.head(key))));
  const present = new Set<string>();
  for (const [index, head] of found.entries()) {
    if (head.status === 'rejected') throw head.reason;
    const key = asked[index]?.key;
    if (head.value !== null && key !== undefined) present.add(key);
  }
  return present;
}
