import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface BudgetState {
  readonly size: number;
  readonly used: number;
  readonly waiters: number;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of the store calls and the byte budget of this replica. */
export function createStoreMetrics(registry: Registry) {
  const registers = [registry];
  const calls = new Counter({
    name: 'transcript_receiver_store_calls_total',
    help: 'Store calls by operation and result: ok, exists (of a conditional write), absent, error, timeout',
    labelNames: ['operation', 'result'],
    registers,
  });
  const duration = new Histogram({
    name: 'transcript_receiver_store_call_duration_seconds',
    help: 'Duration of store calls by operation, retries included',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const stale = new Counter({
    name: 'transcript_receiver_stale_uploads_swept_total',
    help: 'Abandoned multipart uploads that the sweep aborted',
    registers,
  });
  return {
    /**
     * Counts one store call by `measureStore`'s names of the operation and of the result; `durationMs` includes the store's own retries.
     */
    called(operation: string, result: string, durationMs: number): void {
      calls.inc({ operation, result });
      duration.observe({ operation }, durationMs / 1000);
    },
    /** `read` returns the state of the byte budget, at each scrape. */
    watchBudget: defineBudget(registry),
    sweptStaleUploads: (count: number) => stale.inc(count),
  };
}

function defineBudget(registry: Registry): (read: () => BudgetState) => void {
  let state: () => BudgetState = () => ({ size: 0, used: 0, waiters: 0 });
  function gauge(name: string, help: string, read: (state: BudgetState) => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(state()));
      },
    });
  }
  gauge(
    'transcript_receiver_memory_budget_bytes',
    'Size of the byte budget for body buffers',
    (now) => now.size,
  );
  gauge('transcript_receiver_memory_budget_used_bytes', 'Bytes of the budget in use', (now) => now.used);
  gauge(
    'transcript_receiver_memory_budget_waiters',
    'Deliveries that wait for memory from the budget',
    (now) => now.waiters,
  );
  return (read) => {
    state = read;
  };
}
