/** Why an erasure could not remove versions, for people. */
export const KEPT_REASONS = {
  retention: 'a retention protects them',
  'legal-hold': 'a legal hold protects them',
  denied: 'the right s3:DeleteObjectVersion is missing',
  unlisted: 'the right s3:ListBucketVersions is missing, so that old versions are not found',
} as const;

/** What an erasure counts, besides bytes. */
const ERASED: readonly (readonly [name: string, one: string, many: string])[] = [
  ['artefacts', 'artefact', 'artefacts'],
  ['conflicts', 'conflict', 'conflicts'],
  ['quarantined', 'quarantined body', 'quarantined bodies'],
  ['events', 'undelivered event', 'undelivered events'],
  ['versions', 'old version', 'old versions'],
  ['uploads', 'upload', 'uploads'],
];

/** "2 artefacts, 1 old version" */
export function erasedInWords(counts: Readonly<Record<string, number>>): string {
  const found = ERASED.flatMap(([name, one, many]) => {
    const number = counts[name] ?? 0;
    return number === 0 ? [] : [`${number.toLocaleString('en')} ${number === 1 ? one : many}`];
  });
  return found.length === 0 ? 'nothing' : found.join(', ');
}
