import { Problem } from '../domain/problem.js';
import { BodyAbortedError, type RequestBody } from '../lib/http/request-body.js';
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

/** Deliveries that may wait per slot. Silent senders free their slots every three seconds, which serves three in ten seconds. */
const WAITERS_PER_SLOT = 3;

export type SlotRequest = Pick<CallbackRequest, 'declaredLength' | 'isGone' | 'hasArrived'>;

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

export interface SlotOptions {
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  /** Called after a slot was freed and waiting deliveries were served. */
  readonly onLeave?: () => void;
}

/**
 * Bounds the deliveries that are received at the same time: a `FairQueue` of slots, one for each delivery. Reasons:
 * docs/decisions/byte-budget.md; tests: `test/unit/receive/delivery-slots.test.ts`.
 *
 * - **Small share.** Bodies that are larger than 1 MiB never take the last quarter of the slots. A body of unknown size counts as
 *   small until it exceeds 1 MiB.
 * - **Queue.** Deliveries wait up to 10 s, up to three for each slot. Those whose bodies have arrived are received first, then the oldest.
 *   When too many wait, the oldest whose body has not arrived is refused: slow senders cannot fill the queue.
 * - **Pace.** A sender is slow when it is silent, or too slow for its body, or 1 MiB of it, to arrive within 10 s. Waits for memory or
 *   for the store do not make a sender slow.
 */
export class DeliverySlots implements Resource<DeliverySlot> {
  readonly #total: number;
  readonly #onLeave: () => void;
  readonly #mostLarge: number;
  readonly #queue: FairQueue<DeliverySlot>;
  #used = 0;
  #lastAge = 0;

  constructor(total: number, { now = () => performance.now(), onLeave = () => {} }: SlotOptions = {}) {
    this.#total = total;
    this.#onLeave = onLeave;
    this.#mostLarge = total - Math.floor(total / 4);
    this.#queue = new FairQueue(this, now);
  }

  get used(): number {
    return this.#used;
  }

  /** Rejects with an `overloaded` Problem, or with `BodyAbortedError` when the sender has gone meanwhile. */
  async take(request: SlotRequest): Promise<Slot> {
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
    if (this.#queue.waiters.length >= WAITERS_PER_SLOT * this.#total) this.#refuseLate();
    await this.#queue.wait(slot, 1, isLarge(request.declaredLength) ? 'large' : 'small');
    return slot;
  }

  /** Rejects all deliveries that wait. */
  rejectWaiters(reason: () => Error): void {
    for (const { holder } of [...this.#queue.waiters]) this.#queue.end(holder, reason);
  }

  rank({ request }: DeliverySlot): number {
    return request.hasArrived() ? 0 : 1;
  }

  grant({ holder }: Waiter<DeliverySlot>): boolean {
    return this.#take(holder);
  }

  endOf({ holder }: Waiter<DeliverySlot>, waited: number): Error | null {
    if (holder.request.isGone()) return new BodyAbortedError();
    return waited < PATIENCE ? null : overloaded(`${this.#total} deliveries are being received already.`);
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
    this.#queue.serve();
    this.#onLeave();
  }

  /** Refuses the oldest one whose body has not arrived, to make room in the queue. Throws when there is none. */
  #refuseLate(): void {
    const refusal = overloaded(
      `${WAITERS_PER_SLOT * this.#total} deliveries are waiting to be received already.`,
    );
    const late = this.#queue.waiters.find(({ holder }) => !holder.request.hasArrived());
    if (late === undefined) throw refusal;
    this.#queue.end(late.holder, () => refusal);
  }

  #free(): number {
    return this.#total - this.#used;
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
