import { Problem } from '../domain/problem.js';
import { BodyAbortedError, type RequestBody } from '../lib/http/request-body.js';
import { SMALL_BODY, slowestFirst } from '../lib/memory/fill-rate.js';
import { type ShortLivedMember, ShortLivedSet } from '../lib/memory/short-lived-set.js';
import type { CallbackRequest } from './callback-request.js';

/** Milliseconds that a delivery waits before slow ones are refused for it. */
const BEFORE_REFUSING = 1_000;

/** Milliseconds that a delivery waits for a slot. */
const PATIENCE = 10_000;

/** Deliveries that may wait per slot. Silent senders free their slots every three seconds, which serves three in ten seconds. */
const WAITERS_PER_SLOT = 3;

const CHECK_EVERY = 250;

export type SlotRequest = Pick<CallbackRequest, 'declaredLength' | 'isGone' | 'hasArrived'>;

/** Held by a delivery while it is received. */
export interface Slot {
  /** Body of the delivery, whose pace decides which delivery is refused; null until it is opened. */
  body: RequestBody | null;
  /** Frees the slot; acts once. */
  leave(): void;
}

interface HeldSlot extends Slot, ShortLivedMember {
  readonly declaredLength: number | null;
  /** A sequence number. */
  readonly age: number;
  refused: boolean;
}

interface Waiter {
  readonly request: SlotRequest;
  readonly since: number;
  readonly resolve: (slot: Slot) => void;
  readonly reject: (error: Error) => void;
}

export interface SlotOptions {
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  /** Called after a slot was freed and waiting deliveries were served. */
  readonly onLeave?: () => void;
}

/**
 * Bounds the deliveries that are received at the same time, as fairly as the byte budget shares memory. Reasons:
 * docs/decisions/byte-budget.md; tests: `test/unit/receive/delivery-slots.test.ts`.
 *
 * - **Small share.** Bodies that are larger than 1 MiB never take the last quarter of the slots. A body of unknown size counts as
 *   small until it exceeds 1 MiB.
 * - **Queue.** Deliveries wait up to 10 s, up to three for each slot. Those whose bodies have arrived are received first, then the oldest.
 *   When too many wait, the oldest whose body has not arrived is refused: slow senders cannot fill the queue.
 * - **Pace.** Once a delivery has waited for a second, the slowest sender is refused for it: one that is silent, or too slow
 *   for its body, or 1 MiB of it, to arrive within 10 s. Waits for memory or for the store do not make a sender slow.
 */
export class DeliverySlots {
  readonly #total: number;
  readonly #now: () => number;
  readonly #onLeave: () => void;
  readonly #mostLarge: number;
  readonly #held = new ShortLivedSet<HeldSlot>();
  #used = 0;
  #lastAge = 0;
  #queue: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(total: number, { now = () => performance.now(), onLeave = () => {} }: SlotOptions = {}) {
    this.#total = total;
    this.#now = now;
    this.#onLeave = onLeave;
    this.#mostLarge = total - Math.floor(total / 4);
  }

  get used(): number {
    return this.#used;
  }

  /** Rejects with an `overloaded` Problem, or with `BodyAbortedError` when the sender has gone meanwhile. */
  take(request: SlotRequest): Promise<Slot> {
    // This overtakes nobody: a freed slot was offered to the whole queue.
    if (this.#hasRoomFor(request)) return Promise.resolve(this.#grant(request));
    if (this.#queue.length >= WAITERS_PER_SLOT * this.#total) {
      const late = takeFirst(this.#queue, (waiter) => !waiter.request.hasArrived());
      const refusal = overloaded(
        `${WAITERS_PER_SLOT * this.#total} deliveries are waiting to be received already.`,
      );
      if (late === undefined) return Promise.reject(refusal);
      late.reject(refusal);
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, since: this.#now(), resolve, reject });
      // After a pause of the process, what has arrived meanwhile is read first.
      this.#timer ??= setInterval(() => setImmediate(() => this.#check()), CHECK_EVERY).unref();
    });
  }

  /** Rejects all deliveries that wait. */
  rejectWaiters(reason: () => Error): void {
    for (const { reject } of this.#queue.splice(0)) reject(reason());
  }

  #check(): void {
    const instant = this.#now();
    this.#queue = this.#queue.filter(({ request, since, reject }) => {
      if (request.isGone()) reject(new BodyAbortedError());
      else if (instant - since >= PATIENCE) {
        reject(overloaded(`${this.#total} deliveries are being received already.`));
      } else return true;
      return false;
    });
    this.#refuseSlowest(instant);
    if (this.#queue.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #hasRoomFor({ declaredLength }: SlotRequest): boolean {
    if (this.#used >= this.#total) return false;
    return !isLarge(declaredLength) || this.#large() < this.#mostLarge;
  }

  #large(): number {
    return this.#held.members().filter(hasLargeBody).length;
  }

  #grant({ declaredLength }: SlotRequest): Slot {
    this.#used += 1;
    this.#lastAge += 1;
    const slot: HeldSlot = {
      declaredLength,
      age: this.#lastAge,
      refused: false,
      body: null,
      setIndex: -1,
      leave: () => this.#release(slot),
    };
    this.#held.add(slot);
    return slot;
  }

  #release(slot: HeldSlot): void {
    if (slot.setIndex < 0) return;
    this.#held.delete(slot);
    this.#used -= 1;
    this.#serve();
    this.#onLeave();
  }

  #serve(): void {
    const fits = ({ request }: Waiter): boolean => !request.isGone() && this.#hasRoomFor(request);
    const isFirst = (waiter: Waiter): boolean => waiter.request.hasArrived() && fits(waiter);
    while (this.#used < this.#total) {
      const next = takeFirst(this.#queue, isFirst) ?? takeFirst(this.#queue, fits);
      if (next === undefined) return;
      next.resolve(this.#grant(next.request));
    }
  }

  /** Refuses one slow sender for each delivery that waits. Refused ones that have not left yet count. */
  #refuseSlowest(instant: number): void {
    const waiting = this.#queue.filter(({ since }) => instant - since >= BEFORE_REFUSING);
    if (waiting.length === 0) return;
    const held = this.#held.members();
    const large = held.filter(hasLargeBody).length;
    const leaving = held.filter(({ refused }) => refused);
    const slow = held
      .filter(({ refused }) => !refused)
      .map((slot) => ({ slot, age: slot.age, sufficiency: sufficiencyOf(slot, large > this.#mostLarge) }))
      .filter(({ sufficiency }) => sufficiency < 1)
      .sort(slowestFirst)
      .map(({ slot }) => slot);
    for (const { request } of waiting) {
      const needsLarge = isLarge(request.declaredLength) && large >= this.#mostLarge;
      const fits = (slot: HeldSlot): boolean => !needsLarge || hasLargeBody(slot);
      if (takeFirst(leaving, fits) === undefined) refuse(takeFirst(slow, fits));
    }
  }
}

function refuse(slot: HeldSlot | undefined): void {
  if (slot === undefined) return;
  slot.refused = true;
  slot.body?.fail(
    overloaded('The body arrived too slowly while others waited to be received; send it again.'),
  );
}

/** A body of unknown size that has outgrown the small share counts as slow while large ones exceed theirs. */
function sufficiencyOf({ body, declaredLength }: HeldSlot, tooManyLarge: boolean): number {
  if (body === null) return Number.POSITIVE_INFINITY;
  const sufficiency = body.sufficiency();
  const outgrown = tooManyLarge && declaredLength === null && body.bytes > SMALL_BODY;
  return outgrown && sufficiency !== Number.POSITIVE_INFINITY ? 0 : sufficiency;
}

function hasLargeBody({ declaredLength, body }: HeldSlot): boolean {
  return isLarge(declaredLength) || isLarge(body?.bytes ?? 0);
}

function isLarge(bytes: number | null): boolean {
  return (bytes ?? 0) > SMALL_BODY;
}

function takeFirst<Item>(items: Item[], fits: (item: Item) => boolean): Item | undefined {
  const index = items.findIndex(fits);
  return index < 0 ? undefined : items.splice(index, 1)[0];
}

function overloaded(detail: string): Problem {
  return new Problem('overloaded', detail);
}
