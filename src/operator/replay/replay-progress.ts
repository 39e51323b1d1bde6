import type { WorkedItem } from './replay-outage.js';
import { type ReplayFailure, type ReplayState, withItem } from './replay-state.js';
import type { ReplayStore } from './replay-store.js';

/** How far a run is. Failures are kept beside the state, so that the state stays small. */
export interface ReplayProgress {
  readonly state: ReplayState;
  waitFor(cause: string | null): void;
  count(worked: WorkedItem): void;
  /** Writes the failures first, so that every failure the state counts can be listed. */
  save(change: Partial<ReplayState>): Promise<void>;
}

/** @param onChange called whenever the state changes */
export async function createReplayProgress(
  replays: ReplayStore,
  given: ReplayState,
  items: readonly string[],
  onChange: (state: ReplayState) => void,
): Promise<ReplayProgress> {
  let state: ReplayState = { ...given, waitingFor: null };
  let unsaved: ReplayFailure[] = [];
  // A run that died may have listed failures that its state does not count. Those items may succeed this time.
  const listed = new Set((await replays.failures(given.replayId)).map(({ item }) => item));
  let batch = 0;

  function change(to: ReplayState): void {
    state = to;
    onChange(state);
  }

  return {
    get state() {
      return state;
    },
    waitFor(cause) {
      if (state.waitingFor !== cause) change({ ...state, waitingFor: cause });
    },
    count({ index, result: { outcome, failed, reason, jobId } }) {
      const item = items[index] ?? '';
      if (failed || listed.has(item)) unsaved.push({ item, jobId, outcome, reason, failed });
      change(withItem(state, index, outcome, failed));
    },
    async save(part) {
      const saved = { ...state, ...part };
      // Items are counted meanwhile.
      const entries = [...unsaved];
      if (entries.length > 0) {
        batch += 1;
        await replays.addFailures(state.replayId, state.claim, batch, entries);
        unsaved = unsaved.slice(entries.length);
      }
      await replays.save(saved);
    },
  };
}
