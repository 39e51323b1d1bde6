import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { Problem } from '../../../domain/problem.js';
import { createSlots } from './slots.js';

export type ReadGate = ReturnType<typeof createReadGate>;

export interface ReadGateOptions {
  /** Whether callbacks arrive. Default: never. */
  readonly isReceiving?: () => boolean;
  /** Default 8. */
  readonly slots?: number;
  /** Milliseconds that a read waits for another one to end. Default 5,000. */
  readonly patience?: number;
}

/** Reads that run beside callbacks: files are read by four threads of Node, which callbacks need as well. */
const BESIDE_CALLBACKS = 2;

/**
 * Operators' reads of the store and the ledger: eight at a time, two beside callbacks, and each only as long as its client waits: the
 * signal of a read aborts when the client disconnects. Throws `Problem` `overloaded` when no slot becomes free in time.
 */
export function createReadGate({
  slots = 8,
  patience = 5_000,
  isReceiving = () => false,
}: ReadGateOptions = {}) {
  const refusal = `${slots} reads are at work here already; try again when one has ended.`;
  const line = createSlots(() => slots, patience, refusal);
  const turns = createSlots(() => (isReceiving() ? BESIDE_CALLBACKS : slots), null, refusal);

  return async <T>(response: ServerResponse, read: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    if (response.closed) leave();
    response.once('close', leave);
    const { signal } = leaving;
    return line(signal, () => turns(signal, () => read(signal))).finally(() => response.off('close', leave));
  };
}

export type ChangeGate = ReturnType<typeof createChangeGate>;

/** Tracks the changes in flight on the admin port, so that a shutdown can wait for them. */
export function createChangeGate() {
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;
  return {
    /** Runs a change; once the gate is closed, rejects with `draining` without running it. */
    async pass<T>(response: ServerResponse, change: () => Promise<T>): Promise<T> {
      if (closed) throw new Problem('draining', 'This replica is shutting down; try again.');
      const work = change();
      const ended = Promise.allSettled([work, finished(response)]);
      inFlight.add(ended);
      void ended.then(() => inFlight.delete(ended));
      return work;
    },
    /** Lets no further change begin. */
    close(): void {
      closed = true;
    },
    /** Resolves when every change has ended and was answered, or its client has disconnected. */
    async whenEmpty(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
