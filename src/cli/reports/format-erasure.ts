import type { ErasureRecord } from '../../archive/erasure/erasure.js';
import type { ErasureTotals } from '../../domain/erasure-totals.js';
import { erasedInWords } from '../../domain/erasure-words.js';
import { plural } from '../../lib/text/plural.js';
import { keptText } from '../../operations/actions/erase/erase-job.js';
import type { ErasureLine } from '../../operations/actions/erase/erase-jobs.js';

/** Printed for every job, however many a run erases: somebody has to act. */
export function isNotable(line: ErasureLine): boolean {
  return 'error' in line || !line.complete;
}

export function formatErasureLine(line: ErasureLine): string[] {
  if ('error' in line) return [`NOT ERASED ${line.jobId}: ${line.error}`];
  if (!('erased' in line)) return [`Nothing is left of ${line.jobId}: ${formatErasureRecord(line)}`];
  const { bytes, ...counts } = line.erased;
  const erased = `Erased ${line.jobId}: ${erasedInWords(counts)}, ${bytes} bytes`;
  return line.kept === null ? [erased] : [erased, `${keptText(line.kept)}. Erase it again then.`];
}

export function formatErasureRecord({ erasedAt, actor, reason }: ErasureRecord): string {
  return `erased at ${erasedAt} by ${actor}${reason === null ? '' : `: ${reason}`}`;
}

/** "1,202 jobs erased now: 2,404 artefacts, 310 bytes; 3 erased before; 1 NOT ERASED" */
export function formatErasureTotals(totals: ErasureTotals): string {
  const { erasedNow, erasedBefore, incomplete, notErased } = totals;
  const { bytes = 0, ...counts } = totals.removed;
  const sums = erasedNow === 0 ? '' : `: ${erasedInWords(counts)}, ${bytes} bytes`;
  return [
    `${plural(erasedNow, 'job')} erased now${sums}`,
    ...(incomplete > 0 ? [`${incomplete} of them not completely`] : []),
    ...(erasedBefore > 0 ? [`${erasedBefore} erased before`] : []),
    ...(notErased > 0 ? [`${notErased} NOT ERASED`] : []),
  ].join('; ');
}
