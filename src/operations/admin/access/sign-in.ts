import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, type ProblemCode } from '../../../domain/problem.js';
import { peerAddress } from '../../../lib/text/ip-address.js';
import type { SignInFailure } from '../../../observe/metrics/sign-in-metrics.js';
import { type Access, type AdminToken, accessOf } from './access.js';
import { createAttemptCounter } from './attempt-counter.js';

export type SignIn = ReturnType<typeof createSignIn>;

export interface SignInOptions {
  /** Tokens by name. */
  readonly tokens: Readonly<Record<string, AdminToken>>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Failed attempts per minute and peer that are answered at once; further ones get 429 after a delay. Default 100. */
  readonly attemptsPerMinute?: number;
  /** Delay of those answers in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /** Called for each failed attempt. */
  readonly onFailure?: (failure: FailedSignIn) => void;
}

/** Authenticates requests to the admin API. */
export function createSignIn(options: SignInOptions) {
  const tokens = Object.entries(options.tokens).map(([name, token]) => ({
    digest: digestOf(token.token),
    access: accessOf(name, token),
  }));
  const refuse: Refuse = createRefusal(options);

  return {
    /** What the token of the request permits. Throws `SignInRefusal`. */
    authenticate(request: IncomingMessage): Access {
      const values = request.headersDistinct.authorization ?? [];
      const [, token] = /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(values[0] ?? '') ?? [];
      if (values.length !== 1 || token === undefined) {
        const cause = values.length === 0 ? 'missing' : values.length > 1 ? 'repeated' : 'wrong';
        return refuse(request, cause, 'Send one bearer token.');
      }
      const presented = digestOf(token);
      // Every token is compared, also after a match, so that the time taken reveals nothing.
      const matching = tokens.filter(({ digest }) => timingSafeEqual(presented, digest));
      return matching[0]?.access ?? refuse(request, 'wrong', 'The bearer token is not valid.');
    },
  };
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export interface FailedSignIn {
  /** What was wrong; never the token itself. */
  readonly cause: SignInFailure;
  /** Address at the other end of the connection; null when it has ended. */
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

/** Delayed answers at a time; each holds a connection. */
const MAX_HELD = 256;

/** Throws a `SignInRefusal`: `credential-invalid` with `detail`, or `too-many-attempts` over the rate. */
type Refuse = (request: IncomingMessage, cause: SignInFailure, detail: string) => never;

/**
 * Limits the rate of guessing tokens on the admin port. Over the rate each answer is delayed, so that a connection can try one
 * token a second; beyond 256 delayed answers each attempt costs a connection. Only failures are delayed: behind a proxy all
 * clients share one address, and an attacker must not lock the operators out.
 */
function createRefusal(options: SignInOptions): Refuse {
  const { clock = Date.now, attemptsPerMinute = 100, holdMs = 1000, onFailure = () => {} } = options;
  const countFailure = createAttemptCounter(clock);
  let held = 0;

  async function hold(): Promise<void> {
    held += 1;
    await sleep(holdMs, undefined, { ref: false });
    held -= 1;
  }

  return (request, cause, detail) => {
    const peer = peerAddress(request.socket.remoteAddress);
    onFailure({ cause, peer, userAgent: request.headersDistinct['user-agent']?.[0] ?? null });
    if (countFailure(peer ?? '') <= attemptsPerMinute)
      throw new SignInRefusal('credential-invalid', detail, Promise.resolve());
    const message = 'Too many requests without a valid token; try again in a minute.';
    throw new SignInRefusal('too-many-attempts', message, held < MAX_HELD ? hold() : null);
  };
}
