import type { IssueCode } from '../../../src/operations/issues/issues.js';

/** The alerts that fire for an issue, without the prefix that all names have; or why none does. */
export const ALERTS_OF_ISSUES: Readonly<Record<IssueCode, readonly [string, ...string[]] | string>> = {
  'callbacks-refused': ['CredentialsRefused', 'AddressesRefused', 'CallbacksRefused', 'CallbacksFailing'],
  'callbacks-missed': ['CallbacksMissed'],
  'store-not-writable': ['StoreNotWritable'],
  'store-unreadable': 'of the command `status` alone: a receiver that cannot use the store is not ready',
  'store-denied': ['StoreNotWritable', 'CallbacksFailing'],
  'work-denied': 'callbacks are stored all the same',
  'store-replaced': 'known to one machine; callbacks are stored all the same',
  clock: ['StoreNotWritable', 'CallbacksFailing'],
  'not-ready': ['StoreNotWritable'],
  'replica-silent': ['Down', 'StoreNotWritable'],
  draining: 'a restart is no fault',
  'no-receiver': ['Down'],
  'memory-short': ['BudgetExhausted'],
  'ledger-unreadable': ['VerdictUnknown'],
  'index-behind': ['VerdictUnknown'],
  'ledger-loading': ['VerdictUnknown'],
  'ledger-lines-unreadable': 'past figures alone; nothing is lost but what the lines said',
  'jobs-failing': 'a number of the ledger, not of a process; RetentionEnding fires before results are lost',
  'retention-ending': ['RetentionEnding'],
  'results-missing': ['CallbacksMissed'],
  'expected-unknown': 'comes with an issue of reconcile',
  'reconcile-not-configured': 'a matter of the configuration',
  'reconcile-not-scheduled': 'a matter of the configuration',
  'reconcile-not-run': 'passes by itself',
  'reconcile-overdue': ['ReconcileOverdue'],
  'reconcile-incomplete': ['ReconcileOverdue'],
  'artefacts-missing': ['ArtefactsMissing'],
  'verify-incomplete': ['VerifyOverdue'],
  'credentials-expired': ['CredentialExpiring', 'CredentialsRefused'],
  'credential-expired': ['CredentialExpiring'],
  'credential-expiring': ['CredentialExpiring'],
  'quarantine-growing': ['QuarantineGrowing'],
  'subscriber-state-damaged': 'no replica sends to it, so that none has a figure of it',
  'subscriber-paused': ['EventsDelayed'],
  'subscriber-lagging': ['EventsDelayed'],
  'events-dead': ['EventsDelayed'],
};

/** Alerts without an issue, and why. */
export const ALERTS_WITHOUT_ISSUE: Readonly<Record<string, string>> = {
  SignInsFailing: 'Refused attempts endanger no result; Refusals shows them.',
  MergeOverdue: 'Reading the ledger anew is slower; no result is in danger.',
};

export const ALERT_PREFIX = 'TranscriptReceiver';

/** File name of an alert's page: `CallbacksMissed` has `transcript-receiver-callbacks-missed.md`. */
export function runbookOf(alert: string): string {
  return `${(ALERT_PREFIX + alert).replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;
}
