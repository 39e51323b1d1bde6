import type { ErasureRecord } from '../../archive/erasure/erasure.js';
import { erasedInWords } from '../../domain/erasure-words.js';
import { plural } from '../../lib/text/plural.js';
import { keptText } from '../../operations/actions/erase/erase-job.js';
import type { ErasureLine } from '../../operations/actions/erase/erase-jobs.js';

/** Whether the line is always printed, however many jobs a run erases, because an operator has to act. */
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
export function formatErasureTotals(lines: readonly ErasureLine[]): string {
  const erased = lines.flatMap((line) => ('erased' in line ? [line.erased] : []));
  const sums: Record<string, number> = {};
  for (const counts of erased)
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  const { bytes = 0, ...counts } = sums;
  const removed = erased.length === 0 ? '' : `: ${erasedInWords(counts)}, ${bytes} bytes`;
  const notErased = lines.filter((line) => 'error' in line).length;
  const erasedBefore = lines.length - erased.length - notErased;
  const incomplete = lines.filter((line) => 'complete' in line && !line.complete).length;
  return [
    `${plural(erased.length, 'job')} erased now${removed}`,
    ...(incomplete > 0 ? [`${incomplete} of them not completely`] : []),
    ...(erasedBefore > 0 ? [`${erasedBefore} erased before`] : []),
    ...(notErased > 0 ? [`${notErased} NOT ERASED`] : []),
  ].join('; ');
}
