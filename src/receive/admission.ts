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
const SLOT_TIMEOUT = 10_000;

/** Milliseconds after a delivery in which another one is expected, for which operators' reads leave room. */
const BUSY_PERIOD = 1000;

/** Waiting deliveries per slot. Silent senders lose their slots after three seconds, so that a slot serves three within ten seconds. */
const WAITERS_PER_SLOT = 3;

type SlotRequest = Pick<CallbackRequest, 'declaredLength' | 'isGone' | 'hasArrived'>;

/** A slot, which a delivery holds while it is received. */
export interface Slot {
  /** Body of the delivery, whose pace decides whether the delivery is refused; null until it is opened. */
  body: RequestBody | null;
  /** Frees the slot. Idempotent. */
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

/** Whether callbacks can be stored. */
export interface StoreGate {
  /** Settles when that is known; null afterwards. Just after the start of a process the store has not been tested yet. */
  readonly known: Promise<unknown> | null;
  /** Why no callback can be stored now; null when storing may be tried. */
  refusal(): Problem | null;
}

const OPEN: StoreGate = { known: null, refusal: () => null };

/**
 * Admits deliveries while there is room; others are refused with 503 before their body is read. A `FairQueue` of slots, one for each
 * delivery, bounds the number received concurrently. Reasons: docs/decisions/byte-budget.md; tests:
 * `test/unit/receive/delivery-slots.test.ts`.
 *
 * - **Small share.** Bodies larger than 1 MiB never take the last quarter of the slots. A body of unknown size counts as
 *   small until it exceeds 1 MiB.
 * - **Queue.** Deliveries wait up to 10 s, up to three for each slot. Those whose bodies have arrived are received first, then the oldest.
 *   When too many wait, the oldest whose body has not arrived is refused: slow senders cannot fill the queue.
 * - **Pace.** A sender is slow when it is silent, or when at its pace the body, or 1 MiB of it, would not arrive within 10 s. Waits for
 *   memory or for the store do not make a sender slow.
 */
export class Admission implements Resource<DeliverySlot> {
  readonly #limits: AdmissionLimits;
  readonly #budget: Pick<ByteBudget, 'waitersFor'>;
  readonly #store: StoreGate;
  readonly #maxLarge: number;
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
    this.#maxLarge = limits.maxConcurrent - Math.floor(limits.maxConcurrent / 4);
    this.#now = now;
    this.#queue = new FairQueue(this, now);
  }

  get active(): number {
    return this.#used;
  }

  /** Whether a delivery is in flight, or one was within the last second. */
  get isReceiving(): boolean {
    return this.#used > 0 || this.#now() - this.#lastReleased < BUSY_PERIOD;
  }

  /**
   * Waits until it is known whether callbacks can be stored, then for a slot. Rejects with `overloaded`, `draining`, or the refusal of the
   * store gate, and with `BodyAbortedError` when the sender has disconnected.
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
    // Does not overtake waiting deliveries, because each freed slot was already offered to the whole queue.
    if (this.#take(slot)) return slot;
    if (this.#queue.waiters.length >= WAITERS_PER_SLOT * maxConcurrent) this.#makeRoomInQueue();
    await this.#queue.wait(slot, 1, isLarge(request.declaredLength) ? 'large' : 'small');
    return slot;
  }

  /** From now on no delivery is admitted; waiting ones are refused. */
  close(): void {
    this.#isClosed = true;
    for (const { holder } of [...this.#queue.waiters]) this.#queue.end(holder, draining);
  }

  /** Refuses the deliveries in flight whose body is still arriving. */
  failIncompleteBodies(): void {
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
    return waited < SLOT_TIMEOUT
      ? null
      : overloaded(`${this.#limits.maxConcurrent} deliveries are being received already.`);
  }

  /** Each waiting delivery lacks one slot. While the share of large bodies is used up, a large one lacks a slot of that share. */
  shortage(share: Share, waiters: readonly Waiter<DeliverySlot>[]): Shortage<DeliverySlot> {
    const large = this.#large();
    const sufficiency = (slot: DeliverySlot) => sufficiencyOf(slot, large > this.#maxLarge);
    if (share === 'small') return { missing: waiters.length - this.#free(), gain: () => 1, sufficiency };
    const waiting = waiters.filter((waiter) => waiter.share === 'large').length;
    const missing = large < this.#maxLarge ? 0 : waiting;
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
    if (isLarge(slot.request.declaredLength) && this.#large() >= this.#maxLarge) return false;
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

  /** Refuses the oldest waiting delivery whose body has not arrived. Throws when there is none. */
  #makeRoomInQueue(): void {
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

/** A body of unknown size that has grown beyond the small share counts as slow while large bodies exceed their share. */
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
