import { createHmac, hash, scrypt, timingSafeEqual } from 'node:crypto';
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
  /** Derives the key that signs the tickets of a token. Default: scrypt. */
  readonly deriveKey?: typeof deriveByScrypt;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Failed attempts per minute and peer that are answered at once; further ones get a delayed 429. Default 100. */
  readonly attemptsPerMinute?: number;
  /** Delay of those answers in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /** Called for each failed attempt. */
  readonly onFailure?: (failure: FailedSignIn) => void;
}

/** Milliseconds: long enough for an open page, short enough to be of little use if it leaks in a log. */
const TICKET_LIFETIME = 3_600_000;

/** Authenticates requests to the admin API. */
export function createSignIn(options: SignInOptions) {
  const { clock = Date.now, deriveKey = deriveByScrypt } = options;
  const ticketKey = createTicketKeys(options.tokens, deriveKey);
  const tokens = Object.entries(options.tokens).map(([name, token]) => ({
    digest: digestOf(token.token),
    access: accessOf(name, token),
  }));
  const refuse: Refuse = createRefusal(options);

  async function ticketMark(name: string, expires: number, jobId: string): Promise<Buffer> {
    const key = await ticketKey(name);
    return createHmac('sha256', key).update(`${name}\n${expires}\n${jobId}`).digest();
  }

  return {
    /** The access of the request's token. Throws `SignInRefusal`. */
    authenticate(request: IncomingMessage): Access {
      const values = request.headersDistinct.authorization ?? [];
      const [, token] = /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(values[0] ?? '') ?? [];
      if (values.length !== 1 || token === undefined) {
        return refuse(request, malformedCause(values), 'Send one bearer token.');
      }
      const presented = digestOf(token);
      // Every token is compared, also after a match, so that the time taken reveals nothing.
      const matching = tokens.filter(({ digest }) => timingSafeEqual(presented, digest));
      return matching[0]?.access ?? refuse(request, 'wrong', 'The bearer token is not valid.');
    },
    /**
     * A ticket for the artefacts of one job, for download links, which cannot send headers. It is derived from the token, so that every
     * replica accepts it, and it becomes invalid with the token.
     */
    async issueTicket(
      actor: string,
      jobId: string,
    ): Promise<{ readonly ticket: string; readonly expires: string }> {
      const expires = clock() + TICKET_LIFETIME;
      const mark = (await ticketMark(actor, expires, jobId)).toString('base64url');
      return { ticket: `${actor}.${expires}.${mark}`, expires: new Date(expires).toISOString() };
    },
    /** The access of the token that the ticket was issued for. Rejects with `SignInRefusal` when it is invalid or expired. */
    async ticket(ticket: string, jobId: string, request: IncomingMessage): Promise<Access> {
      const [, name, expires, mark] = /^([a-z0-9-]{1,64})\.(\d{1,16})\.([\w-]{43})$/.exec(ticket) ?? [];
      const token = tokens.find(({ access }) => access.actor === name);
      const detail = 'The ticket is not valid or has expired.';
      if (token === undefined || mark === undefined) return refuse(request, 'ticket-wrong', detail);
      // Checked before the key is used, so that an expired ticket cannot be used to guess the token.
      if (Number(expires) <= clock()) return refuse(request, 'ticket-expired', detail);
      const expected = await ticketMark(token.access.actor, Number(expires), jobId);
      if (timingSafeEqual(expected, Buffer.from(mark, 'base64url'))) return token.access;
      return refuse(request, 'ticket-wrong', detail);
    },
  };
}

function malformedCause(headers: readonly string[]): SignInFailure {
  if (headers.length === 0) return 'missing';
  return headers.length > 1 ? 'repeated' : 'wrong';
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Signing keys of tickets by the name of the admin token. Tickets are part of URLs, and a leaked one could be used to guess the token
 * offline, so each guess must be expensive. The key is derived instead of random, because every replica needs the same one. It is derived at
 * first use, and one at a time, because each derivation takes 32 MiB.
 */
function createTicketKeys(tokens: SignInOptions['tokens'], derive: typeof deriveByScrypt) {
  const keys = new Map<string, Promise<Buffer>>();
  let last: Promise<unknown> = Promise.resolve();
  return (name: string): Promise<Buffer> => {
    const known = keys.get(name);
    if (known !== undefined) return known;
    const token = Object.hasOwn(tokens, name) ? tokens[name] : undefined;
    if (token === undefined) return Promise.reject(new Error(`there is no token ${name}`));
    const key = last.then(() => derive(token.token, name));
    last = key.catch(() => {});
    keys.set(name, key);
    return key;
  };
}

/** 32 MiB and about 100 ms: some ten guesses a second and core, instead of millions with a plain hash. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };

function deriveByScrypt(token: string, name: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(token, `transcript-receiver artefact ticket of ${name}`, 32, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

export interface FailedSignIn {
  /** Never contains the token. */
  readonly cause: SignInFailure;
  /** Address at the other end of the connection; null when it has ended. */
  readonly peer: string | null;
  readonly userAgent: string | null;
}

/** A failed sign-in. The answer is delayed until `held`; when too many answers wait, the connection is closed instead. */
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
