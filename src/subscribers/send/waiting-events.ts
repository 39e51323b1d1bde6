import type { WaitingEvent } from '../outbox-state.js';
import type { JobEvent } from '../receiver-event.js';

/** An event that failed and is tried again, or whose dead event is being written. */
export interface Waiting {
  readonly state: WaitingEvent;
  /** Null after a take-over, until it was read. */
  readonly event: JobEvent | null;
  readonly busy: boolean;
}

export type WaitingEvents = ReturnType<typeof createWaitingEvents>;

export function createWaitingEvents(states: readonly WaitingEvent[]) {
  const waiting = new Map<string, Waiting>(
    states.map((state) => [state.id, { state, event: null, busy: false }]),
  );

  function put(state: WaitingEvent, change: Partial<Pick<Waiting, 'event' | 'busy'>> = {}): void {
    const known = waiting.get(state.id);
    waiting.set(state.id, { event: known?.event ?? null, busy: known?.busy ?? false, ...change, state });
  }

  return {
    get size(): number {
      return waiting.size;
    },
    get: (id: string) => waiting.get(id),
    /** Adds or replaces an event. What `change` leaves out stays as it was. */
    put,
    delete: (id: string) => void waiting.delete(id),
    /** The event that is due first, of those that are not busy; null without one. */
    next(): Waiting | null {
      let next: Waiting | null = null;
      for (const each of waiting.values()) {
        if (each.busy || (next !== null && next.state.nextTryAt <= each.state.nextTryAt)) continue;
        next = each;
      }
      return next;
    },
    /** Makes every event due at `now`. */
    makeDue(now: number): void {
      for (const { state } of waiting.values()) put({ ...state, nextTryAt: now });
    },
    states: () => [...waiting.values()].map(({ state }) => state),
  };
}
