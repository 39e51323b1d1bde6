import type { LedgerLine } from '../../../src/domain/delivery.js';
import { scanLines } from '../../../src/ledger/log/scan-lines.js';
import type { ObjectStore } from '../../../src/store/object-store.js';

/** All lines of a ledger that can be read. */
export async function* readLines(store: ObjectStore): AsyncGenerator<LedgerLine> {
  const ignore = () => {};
  const since = Number.NEGATIVE_INFINITY;
  const until = Number.POSITIVE_INFINITY;
  for await (const { line } of scanLines({ store, since, until, onFault: ignore, onUnreadable: ignore }))
    yield line;
}
