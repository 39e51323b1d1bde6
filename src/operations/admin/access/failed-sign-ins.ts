import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, type ProblemCode } from '../../../domain/problem.js';
import { peerAddress } from '../../../lib/text/ip-address.js';
import type { SignInFailure } from '../../../observe/metrics/sign-in-metrics.js';
import { createAttemptCounter } from './attempt-counter.js';

export interface FailedSignIn {
  /** What was wrong; never the token itself. */
  readonly cause: SignInFailure;
  readonly peer: string | null;
  readonly userAgent: string | null;
}

/** A failed sign-in. The answer waits for `held`; when too many answers wait already, it closes the connection instead. */
export class SignInRefusal extends Problem {
  readonly held: Promise<void>;
  readonly closing: boolean;

  constructor(code: ProblemCode, detail: string, held: Promise<void> | null) {
    super(code, detail);
    this.held = held ?? Promise.resolve();
    this.closing = held === null;
  }
}

export interface FailedSignInsOptions {
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Failed attempts per minute and peer that are answered at once; further ones get 429 after a delay. Default 100. */
  readonly attemptsPerMinute?: number;
  /** Delay of those answers in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /** Called for each failed attempt. */
  readonly onFailure?: (failure: FailedSignIn) => void;
}

/** Delayed answers at a time; each holds a connection. */
const MAX_HELD = 256;

export type FailedSignIns = ReturnType<typeof createFailedSignIns>;

/** Address at the other end of the connection; null when it has ended. */
export function peerOf({ socket }: IncomingMessage): string | null {
  return peerAddress(socket.remoteAddress);
}

/**
 * Limits the rate of guessing tokens on the admin port. Over the rate each answer is delayed, so that a connection can try one
 * token a second; beyond 256 delayed answers each attempt costs a connection. Only failures are delayed: behind a proxy all
 * clients share one address, and an attacker must not lock the operators out.
 */
export function createFailedSignIns(options: FailedSignInsOptions) {
  const { clock = Date.now, attemptsPerMinute = 100, holdMs = 1000, onFailure = () => {} } = options;
  const failures = createAttemptCounter(clock);
  let held = 0;

  async function hold(): Promise<void> {
    held += 1;
    await sleep(holdMs, undefined, { ref: false });
    held -= 1;
  }

  return {
    /** Throws a `SignInRefusal`: `credential-invalid` with `detail`, or `too-many-attempts` over the rate. */
    refuse(request: IncomingMessage, cause: SignInFailure, detail: string): never {
      const peer = peerOf(request);
      onFailure({ cause, peer, userAgent: request.headersDistinct['user-agent']?.[0] ?? null });
      if (failures.count(peer ?? '') <= attemptsPerMinute) {
        throw new SignInRefusal('credential-invalid', detail, Promise.resolve());
      }
      const message = 'Too many requests without a valid token; try again in a minute.';
      throw new SignInRefusal('too-many-attempts', message, held < MAX_HELD ? hold() : null);
    },
  };
}
