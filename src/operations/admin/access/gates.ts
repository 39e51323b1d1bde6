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
  /** Milliseconds that a read waits for a slot. Default 5,000. */
  readonly patience?: number;
}

/** A read in progress whose answer several requests share. */
interface SharedRead {
  readonly answer: Promise<unknown>;
  readonly ending: AbortController;
  clients: number;
}

/** Slots while callbacks arrive: Node reads files with four threads, which callbacks need as well. */
const BESIDE_CALLBACKS = 2;

/**
 * Limits operators' reads of the store and the ledger: few at a time, fewer while callbacks arrive, and each only as long as a client waits
 * for its answer.
 */
export function createReadGate({
  slots = 8,
  patience = 5_000,
  isReceiving = () => false,
}: ReadGateOptions = {}) {
  const refusal = `${slots} reads are at work here already; try again when one has ended.`;
  const line = createSlots(() => slots, patience, refusal);
  const turns = createSlots(() => (isReceiving() ? BESIDE_CALLBACKS : slots), null, refusal);
  const shared = new Map<string, SharedRead>();

  function run<T>(signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return line(signal, () =>
      turns(signal, () => {
        signal.throwIfAborted();
        return read(signal);
      }),
    );
  }

  function begin(question: string | null, read: (signal: AbortSignal) => Promise<unknown>): SharedRead {
    const ending = new AbortController();
    const begun = { ending, answer: read(ending.signal), clients: 0 };
    if (question === null) return begun;
    shared.set(question, begun);
    const forget = () => {
      if (shared.get(question) === begun) shared.delete(question);
    };
    ending.signal.addEventListener('abort', forget, { once: true });
    begun.answer.then(forget, forget);
    return begun;
  }

  /** Joins the read in progress for the same question, or starts one. */
  async function join<T>(
    question: string | null,
    response: ServerResponse,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (response.closed) throw new Problem('overloaded', 'The client has disconnected.');
    const joined = (question === null ? undefined : shared.get(question)) ?? begin(question, read);
    joined.clients += 1;
    let leave = () => {};
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => reject(new Problem('overloaded', 'The client has disconnected.'));
      response.once('close', leave);
    });
    try {
      return (await Promise.race([joined.answer, left])) as T;
    } finally {
      response.off('close', leave);
      joined.clients -= 1;
      if (joined.clients === 0) joined.ending.abort();
    }
  }

  return {
    /**
     * Runs a read as soon as one of eight slots is free; while callbacks arrive, two of these run at a time. Its signal aborts when all
     * clients that wait for it have disconnected.
     *
     * @param question key for sharing: equal questions share one read; null shares none
     * @throws Problem `overloaded` when no slot becomes free in time, or the client disconnects
     */
    pass: <T>(question: string | null, response: ServerResponse, read: (signal: AbortSignal) => Promise<T>) =>
      join(question, response, (signal) => run(signal, read)),
    /** Shares a read like `pass`, but without waiting for a slot; for answers with a deadline of their own. */
    share: join,
    /** Call it after a change: later questions do not share reads that began before. */
    changed: () => shared.clear(),
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
