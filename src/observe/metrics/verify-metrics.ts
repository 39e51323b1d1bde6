import { Gauge, type Registry } from 'prom-client';
import { createBackgroundRead } from './background-read.js';

export interface VerifyState {
  readonly missing: number;
  readonly damaged: number;
  /** Whether the run checked everything, and when it ended (ISO 8601). */
  readonly complete: boolean;
  readonly finishedAt: string;
}

/** Metrics of verify. They come from the reports in the store, because any process may have run it. */
export function createVerifyMetrics(registry: Registry, clock: () => number) {
  const reports = createBackgroundRead<VerifyState | null>(clock);

  function gauge(name: string, help: string, value: (state: VerifyState) => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const state = reports.last();
        if (state === undefined) this.remove();
        else this.set(state === null ? 0 : value(state));
      },
    });
  }

  gauge(
    'transcript_receiver_verify_missing_artefacts',
    'Artefacts of the ledger that verify did not find in the store; absent until the reports were read',
    ({ missing }) => missing,
  );
  gauge(
    'transcript_receiver_verify_damaged_artefacts',
    'Artefacts that are not as the ledger records them; absent until the reports were read',
    ({ damaged }) => damaged,
  );
  gauge(
    'transcript_receiver_verify_last_success_timestamp_seconds',
    'When the last verify that looked everywhere ended; 0 before the first',
    ({ complete, finishedAt }) => (complete ? Date.parse(finishedAt) / 1000 : 0),
  );
  return {
    /** `read` returns the figures of the reports, or null before the first run. It is called as in `createBackgroundRead`. */
    watchReports(read: () => Promise<VerifyState | null>): void {
      reports.watch(read);
      reports.last();
    },
  };
}
