import type { ServerResponse } from 'node:http';
import { Problem } from '../../domain/problem.js';
import { createSlots } from './slots.js';

/** Operators' reads of the store and the ledger: a few at a time, and each only as long as somebody waits for its answer. */
export interface ReadGate {
  /**
   * Runs a read as soon as fewer than eight are at work. Its signal aborts when the clients of all who wait for it have disconnected.
   *
   * @param question one that equals a question whose answer is being read shares that answer; null shares none
   * @throws Problem `overloaded` when no slot becomes free in time, or the client disconnects
   */
  pass<T>(
    question: string | null,
    response: ServerResponse,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Something was changed: later questions share no answer that was begun before. */
  changed(): void;
}

export interface ReadGateOptions {
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

export function createReadGate({ slots = 8, patience = 5_000 }: ReadGateOptions = {}): ReadGate {
  const refusal = `${slots} reads are at work here already; try again when one has ended.`;
  const line = createSlots({ slots, patience, refusal });
  const shared = new Map<string, SharedRead>();

  async function run<T>(signal: AbortSignal, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await line.enter(signal);
    try {
      signal.throwIfAborted();
      return await read(signal);
    } finally {
      line.exit();
    }
  }

  function begin(question: string | null, read: (signal: AbortSignal) => Promise<unknown>): SharedRead {
    const ending = new AbortController();
    const begun = { ending, answer: run(ending.signal, read), askers: 0 };
    if (question === null) return begun;
    shared.set(question, begun);
    const forget = () => {
      if (shared.get(question) === begun) shared.delete(question);
    };
    ending.signal.addEventListener('abort', forget, { once: true });
    begun.answer.then(forget, forget);
    return begun;
  }

  return {
    async pass<T>(
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
    },
    changed: () => shared.clear(),
  };
}
