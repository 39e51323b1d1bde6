import { count, plural } from '../../lib/text/plural.js';
import type { CopyReport } from '../../operations/actions/copy/copy-report.js';

/** The report as lines for people; every object that is missing or different is named. */
export function formatCopyReport(report: CopyReport, ages: readonly string[]): string[] {
  const { from, to, copied, bytes, there, removed, faults, faultCount, mergedHours } = report;
  return [
    ...(mergedHours > 0 ? [`Merged ${plural(mergedHours, 'hour')} of the ledger in ${from.location}.`] : []),
    `Copied ${plural(copied, 'object')} (${plural(bytes, 'byte')}) from ${from.location} to ${to.location}; ${count(there)} were there already.`,
    ...(removed > 0 ? [`Removed ${plural(removed, 'object')} that the source does not have any more.`] : []),
    ...faults.map(({ key, reason }) => `error: ${key}: ${reason}`),
    ...(faultCount > faults.length
      ? [`error: and ${plural(faultCount - faults.length, 'further object')}`]
      : []),
    ...resultOf(report),
    ...report.notices,
    ...(report.finished ? ages : []),
  ];
}

function resultOf({ interrupted, finished, faultCount, verified, deep, to }: CopyReport): string[] {
  if (interrupted) return ['Interrupted: run the same command again, and it continues.'];
  const checked = `${plural(verified, 'object')} compared, by ${deep ? 'their bytes' : 'their size'}`;
  if (!finished)
    return [
      `Not all is there: ${plural(faultCount, 'object')} above; ${checked}. Run the same command again. Until it ends with 0 the copy is not served; --accept-missing serves it without them.`,
    ];
  const missing = faultCount === 0 ? 'All is there' : `All but ${plural(faultCount, 'object')} is there`;
  return [
    `${missing}: ${checked}.`,
    `The copy is a store of its own, ${to.id}: set store.url to it, and store.id where that is set. Then start the receiver.`,
  ];
}
