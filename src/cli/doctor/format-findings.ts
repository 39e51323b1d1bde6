import type { Finding, FindingLevel } from './finding.js';

const WORST_FIRST: readonly FindingLevel[] = ['failed', 'warning', 'ok'];

export function worstOf(findings: readonly Finding[]): FindingLevel {
  return WORST_FIRST.find((verdict) => findings.some((finding) => finding.verdict === verdict)) ?? 'ok';
}

/** Findings as text, and how many there are of each level. */
export function formatFindings(findings: readonly Finding[]): string[] {
  return [...findings.flatMap(formatFinding), summaryLine(findings)];
}

function formatFinding({ check, verdict, message, advice }: Finding): string[] {
  const line = `${verdict.padEnd(7)}  ${check}: ${message}`;
  return advice === null ? [line] : [line, `         -> ${advice}`];
}

function summaryLine(findings: readonly Finding[]): string {
  const count = (verdict: FindingLevel) => findings.filter((finding) => finding.verdict === verdict).length;
  const warnings = count('warning');
  const warned = warnings === 1 ? '1 warning' : `${warnings} warnings`;
  return `${count('failed')} failed, ${warned}, ${count('ok')} ok, ${count('skipped')} skipped.`;
}
