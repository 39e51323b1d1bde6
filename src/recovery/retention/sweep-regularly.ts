import { RETENTION_CLASSES } from '../../domain/kinds.js';
import { backgroundYield } from '../../lib/time/cooperative-yield.js';
import { repeat } from '../../lib/time/repeat.js';
import { StoreError } from '../../store/object-store.js';
import { type RetentionState, readRetentionState } from './retention-state.js';
import type { RetentionPeriods } from './retention-view.js';
import { type RetentionParts, type RetentionReport, sweepRetention } from './sweep-retention.js';

export interface RegularSweep {
  readonly parts: RetentionParts;
  /** Whether the store may be written to; without it a check is left out. */
  readonly isStoreReady: () => boolean;
  /** Whether callbacks need the process; work waits until they do not. */
  readonly isBusy: () => boolean;
  readonly onReport: (report: RetentionReport) => void;
  /** Called with the reason when it is unknown whether a sweep is due. */
  readonly onFault: (reason: string) => void;
}

/** Milliseconds between two checks, which cost a read. */
const LOOK_EVERY = 3_600_000;
const FIRST_LOOK_WITHIN = 300_000;
/** A sweep reads every folder. What has ended is there for at most this much longer than its period. */
const SWEEP_EVERY = 24 * 3_600_000;

/** Sweeps once a day, whichever replica does, and again when the periods have changed; until `stop`. */
export function sweepRegularly(options: RegularSweep): { stop(): Promise<void> } {
  const { isStoreReady, isBusy, onReport, onFault } = options;
  const parts = { ...options.parts, recorded: new Set<string>() };

  async function lookOnce(signal: AbortSignal): Promise<void> {
    if (!isStoreReady()) return;
    try {
      if (!isDue(await readRetentionState(parts.store), parts.periods, parts.clock())) return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return onFault(error.message);
    }
    onReport(await sweepRetention(parts, signal, backgroundYield(isBusy, signal)));
  }

  return repeat(lookOnce, { interval: LOOK_EVERY, firstWithin: FIRST_LOOK_WITHIN });
}

/** Whether the last whole sweep was long ago, or had other periods. */
export function isDue(state: RetentionState, periods: RetentionPeriods, now: number): boolean {
  if (RETENTION_CLASSES.every((kind) => periods[kind] === null)) return false;
  if (RETENTION_CLASSES.some((kind) => (state.periods[kind] ?? null) !== periods[kind])) return true;
  const age = now - Date.parse(state.finishedAt ?? '');
  // A time in the future is that of a clock that was wrong.
  return !(age >= 0 && age < SWEEP_EVERY);
}
