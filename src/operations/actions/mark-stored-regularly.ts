import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { repeat } from '../../lib/time/repeat.js';
import { StoreError } from '../../store/object-store.js';

/** Milliseconds between the runs; each lists the quarantine. Artefacts are kept for days at least. */
const INTERVAL = 3_600_000;

export interface MarkStoredOptions {
  readonly quarantine: Pick<QuarantineStore, 'markStored'>;
  /** Whether the store may be written. */
  readonly isReady: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** Records which bodies are settled because their job was stored, so that they stay settled when its artefacts end. */
export function markStoredRegularly({ quarantine, isReady, onError }: MarkStoredOptions): {
  stop(): Promise<void>;
} {
  const mark = async (signal: AbortSignal) => {
    if (!isReady()) return;
    // The next run sees the same bodies again.
    await quarantine.markStored(signal).catch((error: unknown) => {
      if (!(error instanceof StoreError) && !signal.aborted) onError(error);
    });
  };
  return repeat(mark, { interval: INTERVAL, firstWithin: INTERVAL });
}
