import { Gauge, type Registry } from 'prom-client';
import { createReadBehind } from './read-behind.js';

/** Codes and levels are of a fixed set. */
export interface CountedIssue {
  readonly code: string;
  readonly level: string;
}

/** The verdict on health: what the ledger and the reports show, whichever process wrote them. */
export function createVerdictMetrics(registry: Registry, clock: () => number) {
  const issues = createReadBehind<readonly CountedIssue[]>(clock);
  new Gauge({
    name: 'transcript_receiver_issues',
    help: 'Issues of the verdict on health by code and level, of all replicas and commands; at most some minutes old',
    labelNames: ['code', 'level'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { code, level } of issues.last() ?? []) this.inc({ code, level });
    },
  });
  return {
    /** `read` returns the issues, and rejects while they are not known. It is called every five minutes, and again after a failure. */
    watchIssues: issues.watch,
  };
}
