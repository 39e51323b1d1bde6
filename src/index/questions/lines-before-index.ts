import type { ScannedLine } from '../../ledger/log/scan-hour.js';
import { scanLines } from '../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { LedgerView } from '../ledger-view.js';

/** The index, and the log that it was built from. */
export interface IndexAndLog {
  readonly store: ObjectStore;
  readonly view: Pick<LedgerView, 'reachBack'>;
}

/** Lines written from `since` to the start of the index, read from the log. Rejects as `reachBack` does. */
export async function* linesBeforeIndex(from: IndexAndLog, since: number): AsyncGenerator<ScannedLine> {
  const until = await from.view.reachBack(since);
  // `verify` reports unreadable segments.
  if (until > since)
    yield* scanLines({ store: from.store, since, until, onFault: ignore, onUnreadable: ignore });
}

function ignore(): void {}
