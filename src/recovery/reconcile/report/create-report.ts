import { type ObjectStore, StoreError } from '../../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../../store/read-document.js';

/** Two runs may have begun in the same millisecond. */
const NAME_ATTEMPTS = 10;

/** Writes a report under the time at which its run began. Nothing is overwritten. Throws `StoreError`. */
export async function createReport(
  store: ObjectStore,
  keyOf: (startedAt: string) => string,
  report: { readonly startedAt: string },
): Promise<void> {
  const body = Buffer.from(JSON.stringify(report));
  const startedAt = Date.parse(report.startedAt);
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt += 1) {
    const key = keyOf(new Date(startedAt + attempt).toISOString());
    if ((await store.create(key, body, DOCUMENT_HEADERS)) === 'created') return;
  }
  throw new StoreError('create', `${NAME_ATTEMPTS} reports of this moment exist already`);
}
