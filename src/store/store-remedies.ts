// Without imports: the dashboard loads this module as well.

/** Condition of a whole store, as shown by a failed call. */
export type StoreCondition =
  | 'full'
  | 'over-quota'
  | 'read-only'
  | 'denied'
  /** Another file system is mounted at one of its folders. */
  | 'mounted-inside'
  | 'wrong-credentials'
  | 'no-credentials'
  /** The bucket does not exist, or the folder is no longer this store. */
  | 'missing'
  /** No answer, or an answer of something else, such as a proxy. */
  | 'unreachable'
  /** This machine's clock and the store's differ by more than the ledger allows. */
  | 'clock'
  /** The store replaced an object although the write had the condition that none exists. */
  | 'overwrites'
  /** This process may not open more files or connections. */
  | 'too-many-files';

/** What an operator should do about each condition. */
const REMEDIES: Readonly<Record<StoreCondition, string>> = {
  full: 'Free space on the store or enlarge it; do not delete below jobs/ by hand.',
  'over-quota': 'Raise the quota of the store, or free space in it.',
  'read-only':
    'Make the file system writable again; one that became read-only by itself has an error to look into first.',
  denied:
    'Check the permissions: of a folder for the user of the receiver, of a bucket for its role (docs/stores.md, "Permissions").',
  'mounted-inside': 'Mount it at the store folder itself, or nowhere in it.',
  'wrong-credentials':
    'Correct or renew the credentials: below store.s3, and restart, or where the platform provides them.',
  'no-credentials':
    'Set the credentials below store.s3, or let the platform provide them (docs/stores.md, "S3").',
  missing:
    'Bring it back: correct store.url if it names another place, mount the volume of the folder, or restore the bucket (docs/operations.md, "The bucket is lost"). A new bucket has nothing of what was stored before.',
  unreachable:
    'Check that the store runs, its address (store.url, store.s3.endpoint), and the network between.',
  clock:
    'Synchronise the clock of this machine (chrony, systemd-timesyncd). If every machine reports this, correct the clock of the store.',
  overwrites:
    'Look for what changed at the store or in front of it; it needs atomic conditional writes (docs/stores.md, "Which servers work").',
  'too-many-files': 'Raise the limit of open files to 512 or more (ulimit -n, LimitNOFILE= of systemd).',
};

const STATES: Readonly<Record<StoreCondition, string>> = {
  full: 'The store is full.',
  'over-quota': 'The quota of the store is spent.',
  'read-only': 'The store is read-only.',
  denied: 'The store denies access.',
  'mounted-inside': 'Another file system is mounted inside the store folder.',
  'wrong-credentials': 'The store rejects the credentials.',
  'no-credentials': 'There are no credentials for the store.',
  missing: 'There is no store at the configured place.',
  unreachable: 'The store cannot be reached.',
  clock: 'The clocks of this machine and the store differ by more than five minutes.',
  overwrites: 'The store replaces objects although the request forbids it.',
  'too-many-files': 'The process may not open more files.',
};

export const STORE_CONDITIONS = Object.keys(REMEDIES) as readonly StoreCondition[];

/** What is wrong with the store, and what an operator does about it. */
export function adviceOf(condition: StoreCondition): string {
  return `${STATES[condition]} ${REMEDIES[condition]}`;
}

export function remedyOf(condition: StoreCondition): string {
  return REMEDIES[condition];
}

/** "16 minutes ahead of": this machine's clock compared with the store's. @param offset of `ObjectStore.clockOffset` */
export function clockDifference(offset: number): string {
  return `${Math.round(Math.abs(offset) / 60_000)} minutes ${offset < 0 ? 'ahead of' : 'behind'}`;
}
