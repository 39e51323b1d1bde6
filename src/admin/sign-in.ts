import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../domain/problem.js';
import { distinctHeaders } from '../receiver/distinct-headers.js';

/** Who may use the admin API. */
export interface SignIn {
  /** Name of the token the request carries. Throws `credential-invalid` or `too-many-attempts`. */
  bearer(request: IncomingMessage): string;
  /**
   * A ticket for the artefacts of one job: for `<audio>` and download links, which cannot send headers. Made
   * from the token, so every replica knows it and it dies with the token.
   */
  issueTicket(actor: string, jobId: string): { readonly ticket: string; readonly expires: string };
  /** Name of the token a ticket was issued to. Throws `credential-invalid` for others, expired ones included. */
  ticket(ticket: string, jobId: string, request: IncomingMessage): string;
}

export interface SignInOptions {
  /** Tokens by name. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Failed attempts per minute and peer that are answered with care; more hear 429. Default 100. */
  readonly attemptsPerMinute?: number;
}

const MINUTE = 60_000;
/** Long enough to listen to a recording, short enough to be worth little in a log. */
const TICKET_LIFETIME = 60 * MINUTE;
/** Peers whose failures are remembered at once. */
const MAX_PEERS = 1000;

export function createSignIn(options: SignInOptions): SignIn {
  const { clock = Date.now, attemptsPerMinute = 100 } = options;
  const tokens = Object.entries(options.tokens).map(([name, token]) => ({
    name,
    digest: digestOf(token),
    ticketKey: hash('sha256', `artefact-ticket:${token}`, 'buffer'),
  }));
  const failures = new Map<string, { since: number; count: number }>();

  /**
   * The right token always passes: behind a proxy all peers are one, and nobody may lock the operators out.
   * Tokens are long, and the start warns of short ones, so what is bounded here is noise, not the chance of guessing.
   */
  function refuse(request: IncomingMessage, detail: string): never {
    const peer = request.socket.remoteAddress ?? '';
    const now = clock();
    const before = failures.get(peer);
    const entry = before && now - before.since < MINUTE ? before : { since: now, count: 0 };
    entry.count += 1;
    if (failures.size >= MAX_PEERS && !failures.has(peer)) failures.clear();
    failures.set(peer, entry);
    if (entry.count <= attemptsPerMinute) throw new Problem('credential-invalid', detail);
    throw new Problem('too-many-attempts', 'Too many requests without a valid token; try again in a minute.');
  }

  function ticketMark(key: Buffer, name: string, expires: number, jobId: string): Buffer {
    return createHmac('sha256', key).update(`${name}\n${expires}\n${jobId}`).digest();
  }

  return {
    bearer(request) {
      const values = distinctHeaders(request).authorization ?? [];
      const [, token] = /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(values[0] ?? '') ?? [];
      if (values.length !== 1 || token === undefined) refuse(request, 'Send one bearer token.');
      const presented = digestOf(token);
      // Every token is compared, whatever matched before, so that the time taken tells nothing.
      const matching = tokens.filter(({ digest }) => timingSafeEqual(presented, digest));
      return matching[0]?.name ?? refuse(request, 'The bearer token is not valid.');
    },
    issueTicket(actor, jobId) {
      const token = tokens.find(({ name }) => name === actor);
      if (!token) throw new Error(`there is no token ${actor}`);
      const expires = clock() + TICKET_LIFETIME;
      const mark = ticketMark(token.ticketKey, actor, expires, jobId).toString('base64url');
      return { ticket: `${actor}.${expires}.${mark}`, expires: new Date(expires).toISOString() };
    },
    ticket(ticket, jobId, request) {
      const [, name, expires, mark] = /^([a-z0-9-]{1,64})\.(\d{1,16})\.([\w-]{43})$/.exec(ticket) ?? [];
      const token = tokens.find((each) => each.name === name);
      if (token && mark !== undefined && Number(expires) > clock()) {
        const expected = ticketMark(token.ticketKey, token.name, Number(expires), jobId);
        if (timingSafeEqual(expected, Buffer.from(mark, 'base64url'))) return token.name;
      }
      return refuse(request, 'The ticket is not valid or has expired.');
    },
  };
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
