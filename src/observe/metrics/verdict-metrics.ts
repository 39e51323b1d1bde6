import { Gauge, type Registry } from 'prom-client';
import { createBackgroundRead } from './background-read.js';

/** Codes and levels come from fixed sets. */
export interface CountedIssue {
  readonly code: string;
  readonly level: string;
}

export interface CountedVerdict {
  readonly issues: readonly CountedIssue[];
  /** Whether all sources of issues could be read. */
  readonly isKnown: boolean;
}

/** Metrics of the verdict on health, which comes from the ledger and the reports of all processes. */
export function createVerdictMetrics(registry: Registry, clock: () => number) {
  const issues = createBackgroundRead<readonly CountedIssue[]>(clock);
  let knownAt = 0;
  new Gauge({
    name: 'transcript_receiver_issues',
    help: 'Issues of the verdict on health by code and level, of all replicas and commands, as far as they are known',
    labelNames: ['code', 'level'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { code, level } of issues.last() ?? []) this.inc({ code, level });
    },
  });
  new Gauge({
    name: 'transcript_receiver_verdict_last_known_timestamp_seconds',
    help: 'When everything that issues come from was last read; 0 before',
    registers: [registry],
    collect() {
      this.set(knownAt / 1000);
    },
  });
  return {
    /** `read` rejects while too little is known. It is called as in `createBackgroundRead`. */
    watchIssues(read: () => Promise<CountedVerdict>): void {
      issues.watch(async () => {
        const verdict = await read();
        if (verdict.isKnown) knownAt = clock();
        return verdict.issues;
      });
    },
  };
}
