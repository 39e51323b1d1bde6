import type { ReasonCode } from '../domain/reasons.js';

/** An unauthenticated request that was refused. */
export interface Refusal {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Code of the reason; for the admin port `sign-in-` and what was wrong. */
  readonly reason: ReasonCode;
  /** What was wrong with the credential, which the answer does not tell; null for other reasons. */
  readonly cause: ReasonCode | null;
  readonly userAgent: string | null;
  /**
   * Address of the peer, and X-Forwarded-For as it was sent: enough to explain a decision about the address again. `peer` is null
   * where they would not be.
   */
  readonly peer: string | null;
  readonly forwardedFor: string | null;
}

export type RefusalRing = ReturnType<typeof createRefusalRing>;

/** Longest value kept: all of them come from unauthenticated clients. */
const MAX_TEXT = 200;

type Added = Pick<Refusal, 'at' | 'source' | 'reason'> & { readonly isFromSender: boolean };

/**
 * The last refusals, in memory only.
 *
 * @param onAdd called with what was wrong, for each refusal
 * @param capacity how many are kept
 */
export function createRefusalRing(onAdd: (refusal: Added) => void = () => {}, capacity = 500) {
  const ring: Refusal[] = [];
  let next = 0;
  return {
    /** @param isFromSender as of `AccessDecision`; default false */
    add(refusal: Refusal, isFromSender = false): void {
      ring[next] = cut(refusal);
      const { at, source, cause, reason } = refusal;
      onAdd({ at, source, reason: cause ?? reason, isFromSender });
      next = (next + 1) % capacity;
    },
    /** Newest first. */
    list(): readonly Refusal[] {
      return [...ring.slice(next), ...ring.slice(0, next)].reverse();
    },
  };
}

/** Merges several rings, newest first. Separate rings keep a flood of one kind from evicting the other. */
export function mergedRefusals(...rings: readonly Pick<RefusalRing, 'list'>[]): Pick<RefusalRing, 'list'> {
  return {
    list: () => rings.flatMap((ring) => ring.list()).sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
  };
}

function cut(refusal: Refusal): Refusal {
  const { at, source, clientIp, reason, cause, userAgent, peer, forwardedFor } = refusal;
  return {
    at,
    source: short(source),
    clientIp: short(clientIp),
    reason,
    cause,
    userAgent: short(userAgent),
    // The last addresses decide, and cutting removes them.
    peer: (forwardedFor ?? '').length > MAX_TEXT ? null : short(peer),
    forwardedFor: short(forwardedFor),
  };
}

/** A copy, not a slice: a slice would keep the whole header alive. */
function short(text: string | null): string | null {
  return text === null ? null : Buffer.from(text.slice(0, MAX_TEXT)).toString();
}
