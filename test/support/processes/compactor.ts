import { compact } from '../../../src/ledger/compact/compact.js';
import { openStore } from '../../../src/store/open-store.js';

/** A process of its own that compacts a store until it is killed. */
export interface CompactorOptions {
  readonly url: string;
  readonly fileBytes: number;
  readonly keepSegments: number | null;
  /** Milliseconds that its clock is ahead. */
  readonly ahead: number;
}

process.on('message', async ({ url, fileBytes, keepSegments, ahead }: CompactorOptions) => {
  const store = await openStore({ url, fsync: false });
  const clock = () => Date.now() + ahead;
  // Plans count as abandoned at once: living processes work on the same files, too.
  const parts = { store, clock, keepSegments, fileBytes, planTimeout: 0 };
  process.send?.('compacting');
  for (;;) await compact(parts, { since: new Date(0) });
});
process.send?.('ready');
