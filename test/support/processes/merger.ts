import { createMerger } from '../../../src/ledger/merge/merge.js';
import { openStore, type StoreOptions } from '../../../src/store/open-store.js';

/** A process of its own that merges a store again and again until it is killed. */
export interface MergerOptions {
  readonly store: StoreOptions;
  readonly objectBytes: number;
  readonly keepSegments: number | null;
  /** Milliseconds that its clock is ahead. */
  readonly ahead: number;
}

process.on('message', async ({ store: options, objectBytes, keepSegments, ahead }: MergerOptions) => {
  const store = await openStore(options);
  const clock = () => Date.now() + ahead;
  process.send?.('merging');
  for (;;) await createMerger({ store, clock, keepSegments, objectBytes }).run({ since: new Date(0) });
});
process.send?.('ready');
