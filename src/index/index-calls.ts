import type { LedgerIndex } from './ledger-index.js';

type Method = keyof LedgerIndex;

/** Calls of an index, which may be in a worker. */
export interface IndexCalls {
  /** Rejects with `IndexError`. */
  call<Name extends Method>(
    name: Name,
    ...values: Parameters<LedgerIndex[Name]>
  ): Promise<ReturnType<LedgerIndex[Name]>>;
}

/** Index calls, some of which take seconds. */
export interface LongCalls extends IndexCalls {
  /**
   * A call in a worker of its own, so that no other call waits for it. One runs at a time.
   *
   * @param signal aborts the call with its reason
   */
  callInOwnWorker<Name extends Method>(
    signal: AbortSignal | undefined,
    name: Name,
    ...values: Parameters<LedgerIndex[Name]>
  ): Promise<ReturnType<LedgerIndex[Name]>>;
}

/** A call as the worker gets it. */
export interface IndexRequest {
  readonly id: number;
  readonly name: Method;
  readonly values: readonly unknown[];
}

/** An answer of the worker. The first one has the id 0 and the place of the index as its result. */
export type IndexAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly isLost: boolean; readonly message: string };
