/** Why an erasure could not remove versions, for people. */
export const KEPT_REASONS = {
  retention: 'a retention protects them',
  'legal-hold': 'a legal hold protects them',
  denied: 'the right s3:DeleteObjectVersion is missing',
  unlisted: 'the right s3:ListBucketVersions is missing, so that old versions are not found',
} as const;

/** Why an erasure of many leaves a job out. */
export const NOTHING_KNOWN = 'nothing is known of it';
