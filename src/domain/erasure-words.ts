// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { plural } from '../lib/text/plural.js';

/** Why an erasure could not remove versions, for people. */
export const KEPT_REASONS = {
  retention: 'a retention protects them',
  'legal-hold': 'a legal hold protects them',
  denied: 'the right s3:DeleteObjectVersion is missing',
  unlisted: 'the right s3:ListBucketVersions is missing, so that old versions are not found',
} as const;

/** Why an erasure of many leaves a job out. */
export const NOTHING_KNOWN = 'nothing is known of it';

/** What an erasure counts, besides bytes. */
const ERASED: readonly (readonly [name: string, one: string, many?: string])[] = [
  ['artefacts', 'artefact'],
  ['conflicts', 'conflict'],
  ['quarantined', 'quarantined body', 'quarantined bodies'],
  ['events', 'undelivered event'],
  ['versions', 'old version'],
  ['uploads', 'upload'],
];

/** "2 artefacts, 1 old version" */
export function erasedInWords(counts: Readonly<Record<string, number>>): string {
  const found = ERASED.flatMap(([name, ...words]) => (counts[name] ? [plural(counts[name], ...words)] : []));
  return found.length === 0 ? 'nothing' : found.join(', ');
}
