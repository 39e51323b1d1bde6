import { Gauge, type Registry } from 'prom-client';
import { createReadBehind } from './read-behind.js';

/** Codes and levels are of a fixed set. */
export interface CountedIssue {
  readonly code: string;
  readonly level: string;
}

export interface CountedVerdict {
  readonly issues: readonly CountedIssue[];
  /** Whether everything that the issues come from could be read. */
  readonly isKnown: boolean;
}

/** The verdict on health: what the ledger and the reports show, whichever process wrote them. */
export function createVerdictMetrics(registry: Registry, clock: () => number) {
  const issues = createReadBehind<readonly CountedIssue[]>(clock);
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
    /** `read` rejects while too little is known. It is called every five minutes, and again after a failure. */
    watchIssues(read: () => Promise<CountedVerdict>): void {
      issues.watch(async () => {
        const verdict = await read();
        if (verdict.isKnown) knownAt = clock();
        return verdict.issues;
      });
    },
  };
}
