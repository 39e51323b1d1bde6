import type { IncomingMessage } from 'node:http';
import { Problem } from '../../domain/problem.js';
import { FillRate, SMALL_BODY } from '../memory/fill-rate.js';
import { BodyAbortedError, type RequestBody } from './request-body.js';

/** The limits of every body. */
export interface BodyLimits {
  /** Longest pause between two chunks, in milliseconds. */
  readonly idleTimeout: number;
  readonly minBytesPerSecond: number;
  /** Milliseconds of waiting before the minimum rate is enforced. */
  readonly minRateGrace: number;
  /** Milliseconds for the whole body, the receiver's own waits included. */
  readonly totalTimeout: number;
}

/** Bytes of one body. */
interface BodySize {
  /** The most that are accepted on the wire. */
  readonly maxBytes: number;
  /** As declared by the sender; null when it declared none. */
  readonly declaredLength: number | null;
}

/** What a request declares as the length of its body, in bytes; null when it declares none. */
export function declaredLengthOf({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}

/** Bytes over which a sender's pace is measured; fewer at the end of its body. */
const PACE_STEPS = { part: SMALL_BODY, smallBody: SMALL_BODY };

/** Milliseconds between checks of the time-outs of a body. */
const CHECK_EVERY = 250;

/**
 * Reads the body of a request with time-outs. Only time spent waiting for the sender counts: back-pressure of the receiver does not make
 * its sender slow.
 *
 * @param onStart called once, when the first byte is requested: the moment to respond `100 Continue`
 * @param now in milliseconds
 */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  size: BodySize,
  onStart?: () => void,
  now: () => number = () => performance.now(),
): RequestBody {
  return new Body(request, limits, size, onStart, now);
}

interface Pending {
  readonly resolve: (result: IteratorResult<Buffer, undefined>) => void;
  readonly reject: (error: Error) => void;
}

class Body implements RequestBody, AsyncIterator<Buffer, undefined> {
  bytes = 0;
  readonly #request: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #maxBytes: number;
  readonly #declaredLength: number | null;
  readonly #onStart: (() => void) | undefined;
  readonly #now: () => number;
  /** Runs from the start until the end. */
  #checks: NodeJS.Timeout | undefined;
  #queue: Buffer[] = [];
  failure: Error | null = null;
  #onFailure: (() => void) | null = null;
  #ended = false;
  #started = 0;
  #pending: Pending | null = null;
  /** When the reader began to wait; only valid while a read is pending. */
  #waitingSince = 0;
  #waited = 0;
  readonly #rate: FillRate;

  constructor(
    request: IncomingMessage,
    limits: BodyLimits,
    { maxBytes, declaredLength }: BodySize,
    onStart: (() => void) | undefined,
    now: () => number,
  ) {
    this.#request = request;
    this.#limits = limits;
    this.#maxBytes = maxBytes;
    this.#declaredLength = declaredLength;
    this.#onStart = onStart;
    this.#now = now;
    this.#rate = new FillRate(now, PACE_STEPS, declaredLength);
    // Time before the first read is the receiver's, not the sender's.
    this.#rate.received(0);
  }

  sufficiency(): number {
    return this.#rate.sufficiency();
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    if (this.#checks === undefined) this.#start();
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) return Promise.resolve({ value: chunk, done: false });
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#waitingSince = this.#now();
      this.#rate.awaitSender();
      this.#request.resume();
    });
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#detach();
    this.#request.pause();
    return Promise.resolve({ value: undefined, done: true });
  }

  #checkTimeouts(): void {
    const instant = this.#now();
    const { idleTimeout, totalTimeout, minBytesPerSecond, minRateGrace } = this.#limits;
    if (instant - this.#started > totalTimeout) {
      return this.fail(new Problem('body-too-slow', `The body took longer than ${totalTimeout / 1000} s.`));
    }
    if (this.#pending === null) return;
    const waiting = instant - this.#waitingSince;
    const waited = this.#waited + waiting;
    if (waiting > idleTimeout) {
      this.fail(new Problem('body-too-slow', `No byte of the body came for ${idleTimeout / 1000} s.`));
    } else if (waited > minRateGrace && this.bytes < (waited / 1000) * minBytesPerSecond) {
      this.fail(
        new Problem('body-too-slow', `The body came at less than ${minBytesPerSecond} bytes per second.`),
      );
    }
  }

  #start(): void {
    this.#started = this.#now();
    this.#checks = setInterval(() => this.#checkTimeouts(), CHECK_EVERY).unref();
    const request = this.#request;
    request.on('data', this.#onData);
    request.on('end', this.#onEnd);
    request.on('error', this.#onError);
    request.on('close', this.#onClose);
    // A destroyed request delivers nothing, not even its end, also when the whole body has arrived.
    if (request.destroyed) this.fail(new BodyAbortedError());
    else this.#onStart?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    if (this.bytes > this.#maxBytes) {
      return this.fail(new Problem('body-too-large', `This source accepts up to ${this.#maxBytes} bytes.`));
    }
    this.#rate.received(chunk.length);
    if (this.#rate.gathered >= PACE_STEPS.part) this.#rate.flushed();
    if (this.bytes === this.#declaredLength) this.#end();
    // Paused until the next chunk is requested: chunks queued here are outside the byte budget.
    else this.#request.pause();
    const pending = this.#takePending();
    if (pending === null) this.#queue.push(chunk);
    else pending.resolve({ value: chunk, done: false });
  };

  readonly #onEnd = (): void => {
    this.#end();
    this.#takePending()?.resolve({ value: undefined, done: true });
  };

  /** The listeners stay, because nothing follows but the end of the request and its `close`. */
  #end(): void {
    this.#ended = true;
    this.#rate.complete();
    clearInterval(this.#checks);
  }

  readonly #onError = (error: Error): void => this.fail(new BodyAbortedError({ cause: error }));

  readonly #onClose = (): void => {
    if (!this.#ended) this.fail(new BodyAbortedError());
  };

  #takePending(): Pending | null {
    const pending = this.#pending;
    if (pending === null) return null;
    this.#pending = null;
    this.#waited += this.#now() - this.#waitingSince;
    return pending;
  }

  fail(error: Error): void {
    if (this.failure !== null || this.#ended) return;
    this.failure = error;
    this.#queue = [];
    this.#detach();
    this.#request.pause();
    this.#takePending()?.reject(error);
    this.#onFailure?.();
  }

  onFailure(listener: () => void): void {
    this.#onFailure = listener;
    if (this.failure !== null) listener();
  }

  /** The error listener stays: an error without a listener would end the process. */
  #detach(): void {
    clearInterval(this.#checks);
    this.#request.off('data', this.#onData);
    this.#request.off('end', this.#onEnd);
    this.#request.off('close', this.#onClose);
  }
}
