import { backgroundYield } from '../../lib/time/cooperative-yield.js';
import { repeat } from '../../lib/time/repeat.js';
import { createMerger } from './merge.js';
import type { MergeParts } from './merge-parts.js';
import type { MergeReport } from './merge-report.js';

export interface RegularMerge {
  readonly parts: MergeParts;
  /** Whether the store may be written to; otherwise a run is skipped. */
  readonly isStoreReady: () => boolean;
  /** Whether callbacks need the process; work waits until they do not. */
  readonly isBusy: () => boolean;
  readonly onReport: (report: MergeReport) => void;
}

/** Milliseconds from the end of one run to the beginning of the next: one more hour is whole then. */
const INTERVAL = 3_600_000;
/** The first run begins at a random moment within this time, so that a restart does not delay it by an hour. */
const FIRST_RUN_WITHIN = 600_000;
/** Low, because callbacks need the connections too. */
const CONCURRENCY = 4;

/** Merges in this process until `stop`, which interrupts the current run and waits for its end. */
export function mergeRegularly(options: RegularMerge): { stop(): Promise<void> } {
  const { isBusy } = options;
  const merger = createMerger({ concurrency: CONCURRENCY, ...options.parts });

  async function runOnce(signal: AbortSignal): Promise<void> {
    if (!options.isStoreReady()) return;
    options.onReport(await merger.run({ signal, pause: backgroundYield(isBusy, signal) }));
  }

  return repeat(runOnce, { interval: INTERVAL, firstWithin: FIRST_RUN_WITHIN });
}
