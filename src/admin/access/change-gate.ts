import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { Problem } from '../../domain/problem.js';

/** Knows the changes under way on the admin port, so that a shutdown can let them end. */
export interface ChangeGate {
  /** Makes a change; rejects with `draining`, and begins nothing, once the gate is closed. */
  pass<T>(response: ServerResponse, change: () => Promise<T>): Promise<T>;
  /** From now on no change is begun. */
  close(): void;
  /** Resolves when every change has ended, also those whose client has left, and was answered. */
  whenEmpty(): Promise<void>;
}

export function createChangeGate(): ChangeGate {
  const underWay = new Set<Promise<unknown>>();
  let closed = false;
  return {
    async pass(response, change) {
      if (closed) throw new Problem('draining', 'This replica is shutting down; try again.');
      const work = change();
      const ended = Promise.allSettled([work, finished(response)]);
      underWay.add(ended);
      void ended.then(() => underWay.delete(ended));
      return work;
    },
    close() {
      closed = true;
    },
    async whenEmpty() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
