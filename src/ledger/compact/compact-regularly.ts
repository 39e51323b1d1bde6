import { backgroundYield } from '../../time/cooperative-yield.js';
import { repeat } from '../../time/repeat.js';
import { type CompactOptions, compact } from './compact.js';
import type { CompactionParts } from './compaction-parts.js';
import type { CompactionReport } from './compaction-report.js';

export interface RegularCompaction extends Pick<CompactOptions, 'onFile'> {
  readonly parts: CompactionParts;
  /** Whether the store may be written to; without it a run is left out. */
  readonly isStoreReady: () => boolean;
  /** Whether callbacks need the process; work waits until they do not. */
  readonly isBusy: () => boolean;
  readonly onReport: (report: CompactionReport) => void;
  /** In [0, 1); keeps replicas that started together from running together. Default `Math.random`. */
  readonly random?: () => number;
  /** Milliseconds from the end of one run to the beginning of the next. Default an hour: one more is closed then. */
  readonly interval?: number;
}

const HOUR = 3_600_000;
/** The first run begins at a random moment within this, so that a restart does not put it off by an hour. */
const FIRST_RUN_WITHIN = 600_000;
/** A smaller share of the heap than a command takes: the text of a file is in memory while it is made. */
const FILE_BYTES = 16 * 1024 * 1024;

/** Compacts in this process until `stop`, which interrupts the current run and waits for its end. */
export function compactRegularly(options: RegularCompaction): { stop(): Promise<void> } {
  const { interval = HOUR, random } = options;

  async function runOnce(signal: AbortSignal): Promise<void> {
    if (!options.isStoreReady()) return;
    const pause = backgroundYield(options.isBusy, signal);
    const parts = { fileBytes: FILE_BYTES, concurrency: 4, ...options.parts, pause };
    options.onReport(await compact(parts, { signal, onFile: options.onFile }));
  }

  return repeat(runOnce, { interval, firstWithin: FIRST_RUN_WITHIN, random });
}
