import type { ScannedLine } from '../../ledger/log/scan-hour.js';
import { scanLines } from '../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../store/object-store.js';
import { beginOf } from '../index-extent.js';
import type { LedgerView } from '../ledger-view.js';

/** The index, and the log that it was built from. */
export interface IndexAndLog {
  readonly store: ObjectStore;
  readonly view: Pick<LedgerView, 'deliveries' | 'extent' | 'readPast'>;
}

/**
 * Waits for an index that is being built, where it does not reach back to an instant. Resolves to when it begins then, in milliseconds since
 * the epoch. Rejects with `StoreError` and `IndexError`.
 */
export async function beginOfIndex({ view }: IndexAndLog, since: number): Promise<number> {
  if (beginOf(view.extent()) > since) await view.readPast();
  return beginOf(view.extent());
}

/** Lines written from an instant until the index begins, from the log: none where it reaches back as far. Rejects as `beginOfIndex` does. */
export async function* linesBeforeIndex(from: IndexAndLog, since: number): AsyncGenerator<ScannedLine> {
  const until = await beginOfIndex(from, since);
  // `verify` names what cannot be read.
  if (until > since)
    yield* scanLines({ store: from.store, since, until, onFault: ignore, onSkipped: ignore });
}

function ignore(): void {}
