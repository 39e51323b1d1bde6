import type { ListRange, ObjectStore } from '../../store/object-store.js';

/** Four days of hourly runs. */
const MAX_REPORTS = 100;

/** Keys of the last reports in a folder, oldest first. */
export async function lastReports(
  store: Pick<ObjectStore, 'keys'>,
  folder: string,
  range: ListRange,
): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.keys(folder, range))
    if (key.endsWith('.json') && keys.push(key) > MAX_REPORTS) keys.shift();
  return keys;
}
