import { Problem } from '../domain/problem.js';
import { BodyAbortedError, type RequestBody } from '../lib/http/request-body.js';
import type { ByteBudget } from '../lib/memory/byte-budget.js';
import {
  FairQueue,
  type Holder,
  type Resource,
  type Share,
  type Shortage,
  type Waiter,
} from '../lib/memory/fair-queue.js';
import { SMALL_BODY } from '../lib/memory/fill-rate.js';
import type { CallbackRequest } from './callback-request.js';

/** Milliseconds that a delivery waits for a slot. */
const PATIENCE = 10_000;

/** Milliseconds after a delivery within which a further one is expected: operators' reads leave room for it. */
const RECEIVING_FOR = 1000;

/** Deliveries that may wait per slot. Silent senders free their slots every three seconds, which serves three in ten seconds. */
const WAITERS_PER_SLOT = 3;

type SlotRequest = Pick<CallbackRequest, 'declaredLength' | 'isGone' | 'hasArrived'>;

/** Held by a delivery while it is received. */
export interface Slot {
  /** Body of the delivery, whose pace decides which delivery is refused; null until it is opened. */
  body: RequestBody | null;
  /** Frees the slot; acts once. */
  leave(): void;
}

interface DeliverySlot extends Slot, Holder {
  readonly request: SlotRequest;
}

interface AdmissionLimits {
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

/**
 * Admits deliveries when there is room for them; others are refused with 503 before their body is read. Those received at the same time
 * are bounded by a `FairQueue` of slots, one for each delivery. Reasons: docs/decisions/byte-budget.md; tests:
 * `test/unit/receive/delivery-slots.test.ts`.
 *
 * - **Small share.** Bodies that are larger than 1 MiB never take the last quarter of the slots. A body of unknown size counts as
 *   small until it exceeds 1 MiB.
 * - **Queue.** Deliveries wait up to 10 s, up to three for each slot. Those whose bodies have arrived are received first, then the oldest.
 *   When too many wait, the oldest whose body has not arrived is refused: slow senders cannot fill the queue.
 * - **Pace.** A sender is slow when it is silent, or too slow for its body, or 1 MiB of it, to arrive within 10 s. Waits for memory or
 *   for the store do not make a sender slow.
 */
export class Admission implements Resource<DeliverySlot> {
  readonly #limits: AdmissionLimits;
  readonly #budget: Pick<ByteBudget, 'waitersFor'>;
  readonly #store: StoreGate;
  readonly #mostLarge: number;
  readonly #queue: FairQueue<DeliverySlot>;
  readonly #whenEmpty: (() => void)[] = [];
  readonly #now: () => number;
  #isClosed = false;
  #used = 0;
  #lastReleased = Number.NEGATIVE_INFINITY;
  #lastAge = 0;

  /** @param now in milliseconds */
  constructor(
    limits: AdmissionLimits,
    budget: Pick<ByteBudget, 'waitersFor'>,
    store: StoreGate = OPEN,
    now = () => performance.now(),
  ) {
    this.#limits = limits;
    this.#budget = budget;
    this.#store = store;
    this.#mostLarge = limits.maxConcurrent - Math.floor(limits.maxConcurrent / 4);
    this.#now = now;
    this.#queue = new FairQueue(this, now);
  }

  get active(): number {
    return this.#used;
  }

  /** Whether a delivery is in flight, or one was within the last second. */
  get isReceiving(): boolean {
    return this.#used > 0 || this.#now() - this.#lastReleased < RECEIVING_FOR;
  }

  /**
   * Waits until it is known whether something can be stored, then for a slot. Rejects with `overloaded`, `draining`, or what the store
   * gate says, and with `BodyAbortedError` when the sender has gone meanwhile.
   */
  async enter(request: SlotRequest): Promise<Slot> {
    if (this.#store.known !== null) await this.#store.known;
    if (this.#isClosed) throw draining();
    if (request.isGone()) throw new BodyAbortedError();
    const refusal = this.#store.refusal();
    if (refusal !== null) throw refusal;
    const { maxConcurrent, maxWaiters } = this.#limits;
    if (this.#budget.waitersFor(request.declaredLength) >= maxWaiters) {
      throw overloaded(`${maxWaiters} deliveries are waiting for memory already.`);
    }
    const slot: DeliverySlot = {
      request,
      age: ++this.#lastAge,
      refusal: null,
      body: null,
      setIndex: -1,
      leave: () => this.#release(slot),
    };
    // This overtakes nobody: a freed slot was offered to the whole queue.
    if (this.#take(slot)) return slot;
    if (this.#queue.waiters.length >= WAITERS_PER_SLOT * maxConcurrent) this.#refuseLate();
    await this.#queue.wait(slot, 1, isLarge(request.declaredLength) ? 'large' : 'small');
    return slot;
  }

  /** From now on no delivery is admitted, those that wait included. */
  close(): void {
    this.#isClosed = true;
    for (const { holder } of [...this.#queue.waiters]) this.#queue.end(holder, draining);
  }

  /** Refuses the deliveries whose body is still arriving. */
  cutShort(): void {
    for (const { body } of this.#queue.holders.members()) body?.fail(draining());
  }

  /** Resolves when no delivery is in flight. */
  whenEmpty(): Promise<void> {
    return this.#used === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  rank({ request }: DeliverySlot): number {
    return request.hasArrived() ? 0 : 1;
  }

  grant({ holder }: Waiter<DeliverySlot>): boolean {
    return this.#take(holder);
  }

  waitError({ holder }: Waiter<DeliverySlot>, waited: number): Error | null {
    if (holder.request.isGone()) return new BodyAbortedError();
    return waited < PATIENCE
      ? null
      : overloaded(`${this.#limits.maxConcurrent} deliveries are being received already.`);
  }

  /** Each one that waits lacks a slot. Large ones that find their share taken lack one of a large body. */
  shortage(share: Share, waiters: readonly Waiter<DeliverySlot>[]): Shortage<DeliverySlot> {
    const large = this.#large();
    const sufficiency = (slot: DeliverySlot) => sufficiencyOf(slot, large > this.#mostLarge);
    if (share === 'small') return { missing: waiters.length - this.#free(), gain: () => 1, sufficiency };
    const waiting = waiters.filter((waiter) => waiter.share === 'large').length;
    const missing = large < this.#mostLarge ? 0 : waiting;
    return { missing, gain: (slot) => (hasLargeBody(slot) ? 1 : 0), sufficiency };
  }

  refuse(slot: DeliverySlot): void {
    slot.refusal = overloaded(
      'The body arrived too slowly while others waited to be received; send it again.',
    );
    slot.body?.fail(slot.refusal);
  }

  #take(slot: DeliverySlot): boolean {
    if (this.#free() === 0) return false;
    if (isLarge(slot.request.declaredLength) && this.#large() >= this.#mostLarge) return false;
    this.#used += 1;
    this.#queue.holders.add(slot);
    return true;
  }

  #release(slot: DeliverySlot): void {
    if (slot.setIndex < 0) return;
    this.#queue.holders.delete(slot);
    this.#used -= 1;
    this.#lastReleased = this.#now();
    this.#queue.serve();
    if (this.#used > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Refuses the oldest one whose body has not arrived, to make room in the queue. Throws when there is none. */
  #refuseLate(): void {
    const refusal = overloaded(
      `${WAITERS_PER_SLOT * this.#limits.maxConcurrent} deliveries are waiting to be received already.`,
    );
    const late = this.#queue.waiters.find(({ holder }) => !holder.request.hasArrived());
    if (late === undefined) throw refusal;
    this.#queue.end(late.holder, () => refusal);
  }

  #free(): number {
    return this.#limits.maxConcurrent - this.#used;
  }

  #large(): number {
    return this.#queue.holders.members().filter(hasLargeBody).length;
  }
}

/** A body of unknown size that has outgrown the small share counts as slow while large ones exceed theirs. */
function sufficiencyOf({ body, request }: DeliverySlot, tooManyLarge: boolean): number {
  if (body === null) return Number.POSITIVE_INFINITY;
  const sufficiency = body.sufficiency();
  const outgrown = tooManyLarge && request.declaredLength === null && body.bytes > SMALL_BODY;
  return outgrown && sufficiency !== Number.POSITIVE_INFINITY ? 0 : sufficiency;
}

function hasLargeBody({ request, body }: DeliverySlot): boolean {
  return isLarge(request.declaredLength) || isLarge(body?.bytes ?? 0);
}

function isLarge(bytes: number | null): boolean {
  return (bytes ?? 0) > SMALL_BODY;
}

function overloaded(detail: string): Problem {
  return new Problem('overloaded', detail);
}

function draining(): Problem {
  return new Problem('draining', 'This replica is shutting down; another one will take it.');
}
