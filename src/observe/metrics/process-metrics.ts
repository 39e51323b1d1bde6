import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

export interface HealthState {
  readonly ready: boolean;
  readonly draining: boolean;
  /** Milliseconds since the epoch of the canary's last success, or null. */
  readonly lastSuccessAt: number | null;
}

/** Milliseconds between samples of the event loop. A timer that fires 50 times a second has no measurable cost. */
const RESOLUTION = 20;

/** Metrics of this process: readiness, event loop, memory, CPU. */
export function createProcessMetrics(registry: Registry, options: { version: string }) {
  let health: () => HealthState = () => ({ ready: false, draining: false, lastSuccessAt: null });
  const define = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });

  define('transcript_receiver_ready', '1 when /readyz answers 200', () => Number(health().ready));
  define('transcript_receiver_draining', '1 while shutting down', () => Number(health().draining));
  define(
    'transcript_receiver_canary_last_success_timestamp_seconds',
    'When the store was last proven writable; 0 before the first time',
    () => (health().lastSuccessAt ?? 0) / 1000,
  );
  define('transcript_receiver_process_resident_memory_bytes', 'Resident memory of the process', () =>
    process.memoryUsage.rss(),
  );
  define(
    'transcript_receiver_process_cpu_seconds',
    'User and system CPU time of the process since its start',
    () => cpuSeconds(process.cpuUsage()),
  );
  defineBuildInfo(registry, options.version);
  const lag = defineEventLoopLag(registry);
  return {
    /** `read` returns readiness and the canary's state, at each scrape. */
    watchHealth(read: () => HealthState): void {
      health = read;
    },
    close: () => lag.close(),
  };
}

function cpuSeconds(usage: NodeJS.CpuUsage): number {
  return (usage.user + usage.system) / 1e6;
}

function defineBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'transcript_receiver_build_info',
    help: 'Always 1; the labels carry the versions of the product and of Node',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.version }, 1);
}

/** Lag since the last scrape: how much later than scheduled the timer fired. */
function defineEventLoopLag(registry: Registry): { close(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION) / 1000;
  new Gauge({
    name: 'transcript_receiver_event_loop_lag_seconds',
    help: 'Event loop lag since the last scrape: median, 99th percentile and maximum',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      this.set({ quantile: '0.5' }, seconds(histogram.percentile(50)));
      this.set({ quantile: '0.99' }, seconds(histogram.percentile(99)));
      this.set({ quantile: '1' }, histogram.count === 0 ? 0 : seconds(histogram.max));
      histogram.reset();
    },
  });
  return { close: () => histogram.disable() };
}
