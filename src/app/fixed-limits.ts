import type { Config } from '../config/config.js';

const SECOND = 1_000;

/**
 * Limits of a replica that are not settings, because no installation needs other values. Times in milliseconds, sizes in bytes. Tests
 * lower them.
 */
const FIXED_LIMITS = {
  /** Ten times what a sender on a bad connection needs for a request's headers. */
  headersTimeout: 30 * SECOND,
  /** Within a factor of two of the limits of Node, nginx and ALB: longer headers never arrive here. */
  maxHeaderBytes: 16 * 1024,
  /** A connection that loses packets recovers within this time; only then is the rate of a body judged. */
  minRateGrace: 30 * SECOND,
  /** Bytes of a rejected body that are read: those in flight from a sender that stops writing when it sees the response. */
  drainBytes: 1024 * 1024,
  /** How long a rejected sender has to read its response before the connection is closed. */
  drainTime: 5 * SECOND,
  /** Deliveries that may wait for memory, separately for small and large bodies; equals the default number of concurrent deliveries. */
  maxBudgetWaiters: 256,
  /** Downloads of artefacts at the same time: half of the connections to the store that serve downloads. */
  maxDownloads: 32,
  /** A paused player resumes with a range request; until this limit its download occupies a slot. */
  downloadIdleTimeout: 300 * SECOND,
  /** How long an operator's read waits for the index to catch up; then it is answered from the index as it is. */
  freshWithin: 2 * SECOND,
  /** How long reading a fact of health may take: an open dashboard asks every few seconds. */
  factsWithin: 3 * SECOND,
  /** How long the page of a job waits for the speech service. */
  recordWithin: 2 * SECOND,
  /** How long the response to a refused sender waits for its ledger line. */
  lineWithin: SECOND,
  /** A client reads each response as it comes; unread responses occupy memory. */
  unreadTimeout: 30 * SECOND,
  /** Browsers and metrics: one page opens six connections. */
  maxAdminConnections: 256,
};

type FixedLimits = typeof FIXED_LIMITS;

/** Connections allowed for each concurrent delivery: load balancers keep several idle ones open. */
const CONNECTIONS_PER_DELIVERY = 8;

export type ServiceLimits = Config['limits'] & FixedLimits & { readonly maxConnections: number };

/** Makes a setting with the name of a fixed limit a type error, because it would have no effect. */
type NoneFixed = { readonly [Name in keyof FixedLimits]?: never };

/** All limits of a replica. */
export function serviceLimits(
  limits: Config['limits'] & NoneFixed,
  others: Partial<FixedLimits & { maxConnections: number }> = {},
): ServiceLimits {
  const maxConnections = Math.max(2048, CONNECTIONS_PER_DELIVERY * limits.maxConcurrentDeliveries);
  return { ...limits, ...FIXED_LIMITS, maxConnections, ...others };
}
