import type { ReasonCode } from '../domain/reasons.js';

/** An unauthenticated request that was refused. */
export interface Refusal {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Code of the reason; for the admin port `sign-in-` and the cause. */
  readonly reason: ReasonCode;
  /** The fault of the credential, which the answer does not contain; null for other reasons. */
  readonly cause: ReasonCode | null;
  readonly userAgent: string | null;
  /**
   * Address of the peer, and X-Forwarded-For as sent, from which a decision about the address can be explained. `peer` is null when that
   * is impossible.
   */
  readonly peer: string | null;
  readonly forwardedFor: string | null;
}

export type RefusalRing = ReturnType<typeof createRefusalRing>;

/** Characters kept of a value, because all come from unauthenticated clients. */
const MAX_TEXT = 200;

type AddedRefusal = Pick<Refusal, 'at' | 'source' | 'reason'> & { readonly isFromSender: boolean };

/**
 * The last refusals, in memory only.
 *
 * @param onAdd called for each refusal, with the cause as its reason when there is one
 * @param capacity number of refusals that are kept
 */
export function createRefusalRing(onAdd: (refusal: AddedRefusal) => void = () => {}, capacity = 500) {
  const ring: Refusal[] = [];
  let next = 0;
  return {
    /** @param isFromSender as of `AccessDecision`; default false */
    add(refusal: Refusal, isFromSender = false): void {
      ring[next] = shorten(refusal);
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
    list: () => rings.flatMap((ring) => ring.list()).sort((a, b) => b.at.localeCompare(a.at)),
  };
}

function shorten(refusal: Refusal): Refusal {
  const { at, source, clientIp, reason, cause, userAgent, peer, forwardedFor } = refusal;
  return {
    at,
    source: shortCopy(source),
    clientIp: shortCopy(clientIp),
    reason,
    cause,
    userAgent: shortCopy(userAgent),
    // The last addresses of X-Forwarded-For decide, and shortening removes them.
    peer: (forwardedFor ?? '').length > MAX_TEXT ? null : shortCopy(peer),
    forwardedFor: shortCopy(forwardedFor),
  };
}

/** Copies, because a slice would keep the whole header alive. */
function shortCopy(text: string | null): string | null {
  return text === null ? null : Buffer.from(text.slice(0, MAX_TEXT)).toString();
}
