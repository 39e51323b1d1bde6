import { createMerger } from '../../../src/ledger/merge/merge.js';
import type { MergeParts } from '../../../src/ledger/merge/merge-parts.js';
import type { MergeReport } from '../../../src/ledger/merge/merge-report.js';

/** Merges all hours that are whole, as a process does that has just started. */
export function mergeLedger(parts: MergeParts): Promise<MergeReport> {
  return createMerger(parts).run({ since: new Date(0) });
}
