import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { Problem } from '../../../domain/problem.js';

/** Tracks the changes in flight on the admin port, so that a shutdown can wait for them. */
export interface ChangeGate {
  /** Runs a change; once the gate is closed, rejects with `draining` without running it. */
  pass<T>(response: ServerResponse, change: () => Promise<T>): Promise<T>;
  /** Lets no further change begin. */
  close(): void;
  /** Resolves when every change has ended and was answered, or its client has disconnected. */
  whenEmpty(): Promise<void>;
}

export function createChangeGate(): ChangeGate {
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;
  return {
    async pass(response, change) {
      if (closed) throw new Problem('draining', 'This replica is shutting down; try again.');
      const work = change();
      const ended = Promise.allSettled([work, finished(response)]);
      inFlight.add(ended);
      void ended.then(() => inFlight.delete(ended));
      return work;
    },
    close() {
      closed = true;
    },
    async whenEmpty() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
