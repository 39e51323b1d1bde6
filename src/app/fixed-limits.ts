import type { Config } from '../config/config.js';

const SECOND = 1_000;

/**
 * Limits of a replica that are no settings: nobody can choose a better value than the one here. Times in milliseconds,
 * sizes in bytes. Tests lower them.
 */
const FIXED_LIMITS = {
  /** Ten times what a sender on a bad line needs for a request's headers. */
  headersTimeout: 30 * SECOND,
  /** What Node, nginx and ALB admit at most, within a factor of two: longer heads never arrive here. */
  maxHeaderBytes: 16 * 1024,
  /** A connection that loses packets recovers within this time; only then is the rate of a body judged. */
  minRateGrace: 30 * SECOND,
  /** How much of a rejected body is read: what is in flight to a sender that stops writing when it sees the response. */
  drainBytes: 1024 * 1024,
  /** How long a rejected sender has to read its response before the connection is closed. */
  drainTime: 5 * SECOND,
  /** Deliveries that may wait for memory, small and large bodies apart: as many as are received at the same time by default. */
  maxBudgetWaiters: 256,
  /** Downloads of artefacts at the same time: half of the connections to the store that serve downloads. */
  maxDownloads: 32,
  /** A player that is paused resumes with a range; until then its download holds a place. */
  downloadIdleTimeout: 300 * SECOND,
  /** How long an operator's read waits for the index to be brought up to date: what it has is shown beside a store that hangs. */
  freshWithin: 2 * SECOND,
  /** How long a fact of health may take: an open dashboard asks every few seconds. */
  factsWithin: 3 * SECOND,
  /** How long the page of a job waits for the speech service. */
  recordWithin: 2 * SECOND,
  /** How long the response to a refused sender waits for its ledger line. */
  lineWithin: SECOND,
  /** A client reads each response as it comes; what nobody reads is held in memory. */
  unreadTimeout: 30 * SECOND,
  /** Browsers and metrics: one page opens six connections. */
  maxAdminConnections: 256,
};

type FixedLimits = typeof FIXED_LIMITS;

/** Connections that are idle between two callbacks, for each delivery in flight: balancers keep several open. */
const CONNECTIONS_PER_DELIVERY = 8;

export type ServiceLimits = Config['limits'] & FixedLimits & { readonly maxConnections: number };

/** A setting of the same name would have no effect. */
type NoneFixed = { readonly [Name in keyof FixedLimits]?: never };

/** All limits of a replica. */
export function serviceLimits(
  limits: Config['limits'] & NoneFixed,
  others: Partial<FixedLimits & { maxConnections: number }> = {},
): ServiceLimits {
  const maxConnections = Math.max(2048, CONNECTIONS_PER_DELIVERY * limits.maxConcurrentDeliveries);
  return { ...limits, ...FIXED_LIMITS, maxConnections, ...others };
}
