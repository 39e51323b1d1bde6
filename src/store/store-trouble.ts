import { DeadlineError } from '../time/deadline.js';
import { StoreError, type StoreTrouble } from './object-store.js';

/** What an operator does about it. */
const REMEDIES: Readonly<Record<StoreTrouble, string>> = {
  full: 'Free space on the store or enlarge it; do not delete below jobs/ by hand.',
  'over-quota': 'Raise the quota of the store, or free space in it.',
  'read-only':
    'Make the file system writable again; one that became read-only by itself has an error to look into first.',
  denied: 'Check the permissions (docs/stores.md, "Permissions").',
  'wrong-credentials': 'Correct or renew the credentials below store.s3.',
  'no-credentials':
    'Set the credentials below store.s3, or let the platform provide them (docs/stores.md, "S3").',
  missing: 'Create the bucket, bring the folder back, or correct store.url.',
  unreachable:
    'Check that the store runs, its address (store.url, store.s3.endpoint), and the network between.',
};

const STATES: Readonly<Record<StoreTrouble, string>> = {
  full: 'The store is full.',
  'over-quota': 'The quota of the store is spent.',
  'read-only': 'The store is read-only.',
  denied: 'The store denies access.',
  'wrong-credentials': 'The store rejects the credentials.',
  'no-credentials': 'There are no credentials for the store.',
  missing: 'There is no store at the configured place.',
  unreachable: 'The store cannot be reached.',
};

/** What is wrong with the store, and what an operator does about it. */
export function adviceOf(trouble: StoreTrouble): string {
  return `${STATES[trouble]} ${REMEDIES[trouble]}`;
}

export function remedyOf(trouble: StoreTrouble): string {
  return REMEDIES[trouble];
}

/** What the failed store call, or one behind this error, says is wrong with the store; null when it does not say. */
export function troubleOf(error: unknown): StoreTrouble | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DeadlineError) return 'unreachable';
    if (at instanceof StoreError && at.trouble !== null) return at.trouble;
  }
  return null;
}

/** Whether the store itself said so: then the next write fails as well. The others may be the network's fault, and short. */
export function isRefusal(trouble: StoreTrouble): boolean {
  return trouble !== 'unreachable' && trouble !== 'no-credentials';
}
