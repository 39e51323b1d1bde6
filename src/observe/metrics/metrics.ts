import { Registry } from 'prom-client';
import { type ConnectionMetrics, createConnectionMetrics } from './connection-metrics.js';
import { createDeliveryMetrics, type DeliveryMetrics } from './delivery-metrics.js';
import {
  createLedgerMetrics,
  createMergeMetrics,
  type LedgerMetrics,
  type MergeMetrics,
} from './ledger-metrics.js';
import { createOutboxMetrics, type OutboxMetrics } from './outbox-metrics.js';
import { createProcessMetrics, type ProcessMetrics } from './process-metrics.js';
import { createRecoveryMetrics, type RecoveryMetrics } from './recovery-metrics.js';
import { createSignInMetrics, type SignInMetrics } from './sign-in-metrics.js';
import { createStoreMetrics, type StoreMetrics } from './store-metrics.js';
import { createVerdictMetrics, type VerdictMetrics } from './verdict-metrics.js';
import { createVerifyMetrics, type VerifyMetrics } from './verify-metrics.js';

/**
 * All metrics. Their help is their documentation. Recorders take domain
 * values and bound the labels themselves, so that no caller can put a sender's text into a series.
 */
export interface Metrics {
  readonly deliveries: DeliveryMetrics;
  readonly connections: ConnectionMetrics;
  readonly store: StoreMetrics;
  readonly ledger: LedgerMetrics;
  readonly merge: MergeMetrics;
  readonly recovery: RecoveryMetrics;
  readonly verify: VerifyMetrics;
  readonly verdict: VerdictMetrics;
  readonly outbox: OutboxMetrics;
  readonly signIns: SignInMetrics;
  readonly process: ProcessMetrics;
  /** Content type of `expose()`. */
  readonly contentType: string;
  /** The registry in Prometheus' text format. */
  expose(): Promise<string>;
  /** Name, type and help of every metric, for documentation. */
  describe(): Promise<{ name: string; type: string; help: string }[]>;
  /** Ends the event-loop monitor. */
  close(): void;
}

interface MetricsOptions {
  /** Names of the configured sources: the only ones that become label values. */
  readonly sources: readonly string[];
  /** Regions of the egress table and of the configuration. */
  readonly regions: readonly string[];
  /** Names of the configured subscribers. Default: none. */
  readonly subscribers?: readonly string[];
  readonly version?: string;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Each call creates its own registry: two services in one process share nothing. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const clock = options.clock ?? Date.now;
  const process = createProcessMetrics(registry, { version: options.version ?? 'unknown' });
  return {
    deliveries: createDeliveryMetrics(registry, options.sources, options.regions),
    connections: createConnectionMetrics(registry),
    store: createStoreMetrics(registry),
    ledger: createLedgerMetrics(registry),
    merge: createMergeMetrics(registry, clock),
    recovery: createRecoveryMetrics(registry, options.regions, clock),
    verify: createVerifyMetrics(registry, clock),
    verdict: createVerdictMetrics(registry, clock),
    outbox: createOutboxMetrics(registry, options.subscribers ?? [], clock),
    signIns: createSignInMetrics(registry),
    process,
    contentType: registry.contentType,
    expose: () => registry.metrics(),
    async describe() {
      const metrics = await registry.getMetricsAsJSON();
      return metrics.map(({ name, type, help }) => ({ name, type: String(type), help }));
    },
    close: () => process.close(),
  };
}
