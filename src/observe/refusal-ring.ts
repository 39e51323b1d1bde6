/** An unauthenticated request that was refused. */
export interface Refusal {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Stable problem code; of the admin port `sign-in-` and what was wrong. */
  readonly reason: string;
  readonly userAgent: string | null;
  /** Address of the connection's other end, and what X-Forwarded-For claimed: enough to explain the address again. */
  readonly peer: string | null;
  readonly forwardedFor: string | null;
}

export interface RefusalRing {
  add(refusal: Refusal): void;
  /** Newest first. */
  list(): readonly Refusal[];
}

/** All of this comes from strangers: what is longer than it can honestly be is cut. */
const MAX_TEXT = 200;

/** The last refusals, in memory only and bounded, so that strangers can fill nothing. Default 500. */
export function createRefusalRing(capacity = 500): RefusalRing {
  const ring: Refusal[] = [];
  let next = 0;
  return {
    add(refusal) {
      ring[next] = cut(refusal);
      next = (next + 1) % capacity;
    },
    list() {
      return [...ring.slice(next), ...ring.slice(0, next)].reverse();
    },
  };
}

/** Several rings as one list, newest first. Each has room of its own, so that a flood of one kind drives out no other. */
export function mergedRefusals(...rings: readonly Pick<RefusalRing, 'list'>[]): Pick<RefusalRing, 'list'> {
  return {
    list: () => rings.flatMap((ring) => ring.list()).sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
  };
}

function cut(refusal: Refusal): Refusal {
  const { at, source, clientIp, reason, userAgent, peer, forwardedFor } = refusal;
  return {
    at,
    source: short(source),
    clientIp: short(clientIp),
    reason: short(reason) ?? '',
    userAgent: short(userAgent),
    peer: short(peer),
    forwardedFor: short(forwardedFor),
  };
}

/** A copy, not a slice: a slice would keep the whole header alive. */
function short(text: string | null): string | null {
  return text === null ? null : Buffer.from(text.slice(0, MAX_TEXT)).toString();
}
