import type { DamageReason } from '../../recovery/verify/check-artefact.js';
import type { VerifyFinding } from '../../recovery/verify/verify-finding.js';
import { VERIFY_OUTCOMES, type VerifyReport } from '../../recovery/verify/verify-report.js';

/** Findings and commands that are printed; `--json` has all of the report. */
const MAX_LINES = 100;

/** A report as text: counts, then what needs attention, with the commands that repair it. */
export function formatVerifyReport(report: VerifyReport): string[] {
  const { window, checked, bytes, outcomes, ledger, missing, damaged, replaced, faults } = report;
  return [
    `Artefacts of ${window.since} to ${window.until} in ${report.store}: ${checked} checked, ${bytes} bytes intact`,
    ...countRows(report),
    `Read ${ledger.lines} lines of the ledger in ${ledger.segments} objects${unreadInWords(ledger)}`,
    ...firstOf(missing.map(formatFinding), outcomes.missing),
    ...firstOf(damaged.map(formatFinding), outcomes.damaged),
    ...firstOf(replaced.map(formatReplaced), outcomes.replaced),
    ...refetchAdvice(report),
    ...lossAdvice(report),
    ...faults.map(({ key, reason }) => `error${key === null ? '' : ` at ${key}`}: ${reason}`),
  ];
}

function countRows(report: VerifyReport): string[] {
  if (report.ledger.lines === 0) return [nothingCheckedInWords(report)];
  return VERIFY_OUTCOMES.map((outcome) => {
    const how = outcome === 'intact' ? `  ${comparedInWords(report)}` : '';
    return `  ${outcome.padEnd(14)} ${report.outcomes[outcome]}${how}`;
  });
}

function refetchAdvice({ refetch, damaged }: VerifyReport): string[] {
  if (refetch.length === 0) return [];
  const commands = refetch.map((command) => `  ${command}`);
  const lines = ['Fetch again what the service may still have:', ...firstOf(commands)];
  if (damaged.length > 0)
    lines.push(
      'A refetched copy of a damaged artefact becomes a conflict: transcript-receiver job <job> names it, and how to choose it.',
    );
  lines.push(
    'If artefacts are still missing or damaged: restore them from a backup, or accept the loss with transcript-receiver acknowledge <job> --reason <words>',
  );
  return lines;
}

function lossAdvice(report: VerifyReport): string[] {
  const commands = lostJobs(report).map(
    (jobId) => `  transcript-receiver acknowledge ${jobId} --reason <words>`,
  );
  if (commands.length === 0) return [];
  const title = 'The service no longer has these: restore them from a backup, or accept the loss:';
  return [title, ...firstOf(commands)];
}

/** Distinguishes a ledger without lines from one that was not read. */
function nothingCheckedInWords({ complete }: VerifyReport): string {
  return complete
    ? 'Nothing was checked: the ledger has no line of this time'
    : 'Nothing was checked, and nothing is known of the artefacts: no line of the ledger was read';
}

const DAMAGES: Readonly<Record<DamageReason, string>> = {
  content: 'the bytes differ from the recorded hash',
  metadata: 'the hash in its metadata differs from the recorded one',
  size: 'the size differs from the recorded one',
  request: 'its request.json is missing or cannot be read',
  claims: 'the ledger records different content for this key',
};

function comparedInWords({ compared: { content, metadata, size } }: VerifyReport): string {
  return `by content ${content}, by the recorded hash ${metadata}, by size only ${size}`;
}

function unreadInWords({ unreadable, unusable }: VerifyReport['ledger']): string {
  const parts = [
    ...(unreadable > 0 ? [`${unreadable} unreadable lines`] : []),
    ...(unusable > 0 ? [`${unusable} unusable items`] : []),
  ];
  return parts.length === 0 ? '' : `; not read: ${parts.join(', ')}`;
}

function formatFinding({ reason, key, deliveryId, receivedAt, expected, found }: VerifyFinding): string {
  const about = `${key}  received ${receivedAt} as ${deliveryId}`;
  if (reason === 'missing' || found === null) return `missing  ${about}`;
  return `damaged  ${about}  ${DAMAGES[reason]}: expected ${contentInWords(expected)}, found ${contentInWords(found)}`;
}

function formatReplaced({ key, sha256, choice }: VerifyReport['replaced'][number]): string {
  const about = `replaced ${key}  sha256 ${sha256 ?? 'unknown'}`;
  if (choice === null) return `${about}  chosen outside the time of this report`;
  const { chosenAt, actor, reason } = choice;
  return `${about}  by another version of ${chosenAt}, by ${actor ?? 'recovery'}: ${reason ?? 'no reason'}`;
}

function contentInWords({ size, sha256 }: VerifyFinding['expected']): string {
  return `${size} bytes, sha256 ${sha256 ?? 'unknown'}`;
}

/** @param count of all; `lines` may be only the first of them */
function firstOf(lines: readonly string[], count = lines.length): string[] {
  const shown = lines.slice(0, MAX_LINES);
  return count === shown.length ? shown : [...shown, `... and ${count - shown.length} more: see the report`];
}

/** Jobs with an object that is missing or damaged and that cannot be fetched again. */
function lostJobs({ startedAt, missing, damaged }: VerifyReport): string[] {
  const lost = [...missing, ...damaged].filter(
    ({ keptUntil }) => keptUntil === null || keptUntil <= startedAt,
  );
  return [...new Set(lost.flatMap(({ jobId }) => jobId ?? []))];
}
