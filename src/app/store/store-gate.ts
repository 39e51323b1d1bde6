import { setTimeout as sleep } from 'node:timers/promises';
import { clockProblem, unavailableProblem } from '../../archive/store-problem.js';
import { clockFault } from '../../ledger/hours.js';
import type { Canary } from '../../operations/health/canary.js';
import type { StoreGate } from '../../receive/admission.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { StoreProof } from '../../store/probe/store-proof.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import type { StoreIdentity } from './store-identity.js';

/** Milliseconds that callbacks wait for the first attempt to prove the store, from the start of the process. */
const FIRST_PROOF = 10_000;

/**
 * Nothing is tried while these last. A store that is away would keep each callback waiting until its time-outs, and one that replaces
 * objects would lose one. What else is wrong is answered at once, and the first callback that is stored shows that it has ended.
 */
const CLOSING: ReadonlySet<StoreCondition | null> = new Set<StoreCondition>(['unreachable', 'overwrites']);

interface GateParts {
  readonly proof: Pick<StoreProof, 'proven' | 'tried'>;
  readonly canary: Pick<Canary, 'status'>;
  readonly store: Pick<ObjectStore, 'clockOffset'>;
  readonly identity: Pick<StoreIdentity, 'isWrong'>;
}

/** Decides which callbacks are answered 503 without a call of the store. */
export function createStoreGate({ proof, canary, store, identity }: GateParts): StoreGate {
  let known: Promise<unknown> | null = Promise.race([
    proof.tried,
    sleep(FIRST_PROOF, null, { ref: false }),
  ]).then(() => {
    known = null;
  });
  return {
    get known() {
      return known;
    },
    refusal() {
      if (!proof.proven || identity.isWrong()) return unavailableProblem();
      if (clockFault(store.clockOffset()) !== null) return clockProblem();
      const { writable, condition } = canary.status();
      return !writable && CLOSING.has(condition) ? unavailableProblem() : null;
    },
  };
}
