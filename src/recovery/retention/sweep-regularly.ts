import { RETENTION_CLASSES } from '../../domain/kinds.js';
import { backgroundYield } from '../../lib/time/cooperative-yield.js';
import { repeat } from '../../lib/time/repeat.js';
import { StoreError } from '../../store/object-store.js';
import { type RetentionState, readRetentionState } from './retention-state.js';
import type { RetentionPeriods } from './retention-view.js';
import { type RetentionParts, type RetentionReport, sweepRetention } from './sweep-retention.js';

export interface RegularSweep {
  readonly parts: RetentionParts;
  /** Whether the store may be written to; otherwise the check is skipped. */
  readonly isStoreReady: () => boolean;
  /** Whether callbacks need the process; the sweep waits meanwhile. */
  readonly isBusy: () => boolean;
  readonly onReport: (report: RetentionReport) => void;
  /** Called with the reason when it is unknown whether a sweep is due. */
  readonly onFault: (reason: string) => void;
}

/** Milliseconds between two checks; each costs a read. */
const CHECK_EVERY = 3_600_000;
const FIRST_CHECK_WITHIN = 300_000;
/** A sweep lists every folder. Expired objects stay at most this much longer than their period. */
const SWEEP_EVERY = 24 * 3_600_000;

/** Sweeps once a day over all replicas, and again when the periods have changed; until `stop`. */
export function sweepRegularly(options: RegularSweep): { stop(): Promise<void> } {
  const { isStoreReady, isBusy, onReport, onFault } = options;
  const parts = { ...options.parts, recorded: new Set<string>() };

  async function sweepIfDue(signal: AbortSignal): Promise<void> {
    if (!isStoreReady()) return;
    try {
      if (!isDue(await readRetentionState(parts.store), parts.periods, parts.clock())) return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return onFault(error.message);
    }
    onReport(await sweepRetention(parts, signal, backgroundYield(isBusy, signal)));
  }

  return repeat(sweepIfDue, { interval: CHECK_EVERY, firstWithin: FIRST_CHECK_WITHIN });
}

/** Whether the last complete sweep is more than a day old, or had other periods. */
export function isDue(state: RetentionState, periods: RetentionPeriods, now: number): boolean {
  if (RETENTION_CLASSES.every((kind) => periods[kind] === null)) return false;
  if (RETENTION_CLASSES.some((kind) => (state.periods[kind] ?? null) !== periods[kind])) return true;
  const age = now - Date.parse(state.finishedAt ?? '');
  // A time in the future comes from a clock that was wrong.
  return !(age >= 0 && age < SWEEP_EVERY);
}
