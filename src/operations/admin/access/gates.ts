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

interface SharedRead {
  readonly answer: Promise<unknown>;
  readonly ending: AbortController;
  askers: number;
}

/** Reads that run beside callbacks: files are read by four threads of Node, which callbacks need as well. */
const BESIDE_CALLBACKS = 2;

/**
 * Operators' reads of the store and the ledger: a few at a time, fewer beside callbacks, and each only as long as somebody waits for its
 * answer.
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
    const begun = { ending, answer: read(ending.signal), askers: 0 };
    if (question === null) return begun;
    shared.set(question, begun);
    const forget = () => {
      if (shared.get(question) === begun) shared.delete(question);
    };
    ending.signal.addEventListener('abort', forget, { once: true });
    begun.answer.then(forget, forget);
    return begun;
  }

  /** The answer of the read that is at work on the question, or of a new one. */
  async function join<T>(
    question: string | null,
    response: ServerResponse,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (response.closed) throw new Problem('overloaded', 'The client has disconnected.');
    const joined = (question === null ? undefined : shared.get(question)) ?? begin(question, read);
    joined.askers += 1;
    let leave = () => {};
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => reject(new Problem('overloaded', 'The client has disconnected.'));
      response.once('close', leave);
    });
    try {
      return (await Promise.race([joined.answer, left])) as T;
    } finally {
      response.off('close', leave);
      joined.askers -= 1;
      if (joined.askers === 0) joined.ending.abort();
    }
  }

  return {
    /**
     * Runs a read as soon as fewer than eight are at work; beside callbacks these take turns, two at a time. Its signal aborts when the
     * clients of all who wait for it have disconnected.
     *
     * @param question one that equals a question whose answer is being read shares that answer; null shares none
     * @throws Problem `overloaded` when no slot becomes free in time, or the client disconnects
     */
    pass: <T>(question: string | null, response: ServerResponse, read: (signal: AbortSignal) => Promise<T>) =>
      join(question, response, (signal) => run(signal, read)),
    /** The same for an answer that has a deadline of its own: it shares, and waits behind no other read. */
    share: join,
    /** Something was changed: later questions share no answer that was begun before. */
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
