import { Registry } from 'prom-client';
import { createConnectionMetrics } from './connection-metrics.js';
import { createDeliveryMetrics } from './delivery-metrics.js';
import { createLedgerMetrics, createMergeMetrics } from './ledger-metrics.js';
import { createOutboxMetrics } from './outbox-metrics.js';
import { createProcessMetrics } from './process-metrics.js';
import { createRecoveryMetrics } from './recovery-metrics.js';
import { createSignInMetrics } from './sign-in-metrics.js';
import { createStoreMetrics } from './store-metrics.js';
import { createVerdictMetrics } from './verdict-metrics.js';
import { createVerifyMetrics } from './verify-metrics.js';

export type Metrics = ReturnType<typeof createMetrics>;

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

/**
 * All metrics. Their help texts are their documentation. Recorders take domain values and bound the labels themselves, so that no caller
 * can put a sender's text into a series. Each call creates its own registry, so that two services in one process share nothing.
 */
export function createMetrics(options: MetricsOptions) {
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
    outbox: createOutboxMetrics(registry, options.subscribers ?? []),
    signIns: createSignInMetrics(registry),
    process,
    /** Content type of `expose()`. */
    contentType: registry.contentType,
    /** The registry in Prometheus' text format. */
    expose: () => registry.metrics(),
    /** Name, type and help of every metric, for documentation. */
    async describe(): Promise<{ name: string; type: string; help: string }[]> {
      const metrics = await registry.getMetricsAsJSON();
      return metrics.map(({ name, type, help }) => ({ name, type: String(type), help }));
    },
    /** Ends the event-loop monitor. */
    close: () => process.close(),
  };
}
