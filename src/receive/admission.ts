import { Problem } from '../domain/problem.js';
import { BodyAbortedError } from '../lib/http/request-body.js';
import type { ByteBudget } from '../lib/memory/byte-budget.js';
import { DeliverySlots, type Slot, type SlotRequest } from './delivery-slots.js';

/** Admits deliveries when there is room for them; others are refused with 503 before their body is read. */
export interface Admission {
  readonly active: number;
  /**
   * Waits until it is known whether something can be stored, then for a slot. Rejects with `overloaded`, `draining`, or what the store
   * gate says, and with `BodyAbortedError` when the sender has gone meanwhile.
   */
  enter(request: SlotRequest): Promise<Slot>;
  /** From now on no delivery is admitted, those that wait included. */
  close(): void;
  /** Resolves when no delivery is in flight. */
  whenEmpty(): Promise<void>;
}

export interface AdmissionLimits {
  readonly maxConcurrent: number;
  /** Deliveries that may wait for memory in the queue that a new one would join. */
  readonly maxWaiters: number;
}

/** Whether callbacks may go on to the store. */
export interface StoreGate {
  /** Settles when that is known; null once it is. In the first moments of a process the store was not asked yet. */
  readonly known: Promise<unknown> | null;
  /** Why no callback is stored now, whatever it brings; null when it may be tried. */
  refusal(): Problem | null;
}

const OPEN: StoreGate = { known: null, refusal: () => null };

export function createAdmission(
  limits: AdmissionLimits,
  budget: Pick<ByteBudget, 'waitersFor'>,
  store: StoreGate = OPEN,
): Admission {
  const slots = new DeliverySlots(limits.maxConcurrent, { onLeave: left });
  let closed = false;
  let waiting: (() => void)[] = [];

  function left(): void {
    if (slots.used > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  return {
    get active() {
      return slots.used;
    },
    async enter(request) {
      if (store.known !== null) await store.known;
      if (closed) throw draining();
      if (request.isGone()) throw new BodyAbortedError();
      const refusal = store.refusal();
      if (refusal !== null) throw refusal;
      if (budget.waitersFor(request.declaredLength) >= limits.maxWaiters) {
        throw new Problem('overloaded', `${limits.maxWaiters} deliveries are waiting for memory already.`);
      }
      return slots.take(request);
    },
    close() {
      closed = true;
      slots.rejectWaiters(draining);
    },
    whenEmpty() {
      return slots.used === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

function draining(): Problem {
  return new Problem('draining', 'This replica is shutting down; another one will take it.');
}
