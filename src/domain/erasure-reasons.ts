/** Why an erasure could not remove versions, for people. */
export const KEPT_REASONS = {
  retention: 'a retention protects them',
  'legal-hold': 'a legal hold protects them',
  denied: 'the right s3:DeleteObjectVersion is missing',
  unlisted: 'the right s3:ListBucketVersions is missing, so that old versions are not found',
} as const;

/** Why an erasure leaves a job out, by what is known of it, for people. */
export const LEFT_OUT_REASONS = {
  unknown: 'nothing is known of it',
  shared: 'it has results of other sources too',
} as const;
