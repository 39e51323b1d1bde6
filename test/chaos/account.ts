import type { Callback } from './callbacks.js';

/** What the receiver promised by a 2xx. */
export interface Acknowledgement {
  readonly deliveryId: string;
  readonly outcome: string;
  readonly items: readonly {
    readonly key: string;
    readonly size: number;
    readonly sha256: string;
    readonly outcome: string;
  }[];
}

export interface AcknowledgedCallback {
  readonly callback: Callback;
  readonly acknowledgement: Acknowledgement;
}

/** Everything that was sent and what was promised about it: the other side of the comparison. */
export interface Account {
  readonly acknowledged: AcknowledgedCallback[];
  /** All bodies by job, acknowledged or not. */
  readonly sent: Map<string, Callback[]>;
  /** Callbacks sent whole at least once: only these may leave anything behind. */
  readonly whole: Set<Callback>;
  readonly answers: Map<string, number>;
  /** Good callbacks that were given up before an acknowledgement came. */
  readonly givenUp: Callback[];
  /** Answers that break the contract, in words. */
  readonly oddities: string[];
  /** Transcripts that were not taken beside senders and operators that behave badly. */
  readonly starved: string[];
  /** Such transcripts that neither replica took: the machine or the store was too slow to tell. */
  readonly undecided: string[];
  /** Milliseconds that those took which were. */
  readonly besideStrain: number[];
}

export function createAccount(): Account {
  return {
    acknowledged: [],
    sent: new Map(),
    whole: new Set(),
    answers: new Map(),
    givenUp: [],
    oddities: [],
    starved: [],
    undecided: [],
    besideStrain: [],
  };
}

export function countAnswer(account: Account, answer: string): void {
  account.answers.set(answer, (account.answers.get(answer) ?? 0) + 1);
}
