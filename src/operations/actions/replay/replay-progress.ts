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
export function createReplayProgress(
  replays: ReplayStore,
  given: ReplayState,
  items: readonly string[],
  onChange: (state: ReplayState) => void,
): ReplayProgress {
  let state: ReplayState = { ...given, waitingFor: null };
  let unsaved: ReplayFailure[] = [];

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
      if (failed) unsaved.push({ item: items[index] ?? '', jobId, outcome, reason });
      change(withItem(state, index, outcome, failed));
    },
    async save(part) {
      const saved = { ...state, ...part };
      // Items are counted meanwhile.
      const entries = [...unsaved];
      const { replayId, claim } = state;
      if (entries.length > 0) {
        const batch = (state.batches[claim] ?? 0) + 1;
        await replays.addFailures(replayId, claim, batch, entries);
        unsaved = unsaved.slice(entries.length);
        change({ ...state, batches: { ...state.batches, [claim]: batch } });
      }
      await replays.save({ ...saved, batches: state.batches });
    },
  };
}
