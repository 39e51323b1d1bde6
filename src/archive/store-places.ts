import type { OtherWork } from '../domain/other-work.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER } from '../ledger/ledger-keys.js';
import { PROOF_NAME } from '../store/object-key.js';
import type { ObjectStore } from '../store/object-store.js';
import { PROBE_TAGS } from '../store/probe/probe-tags.js';
import type { Erasures } from './erasure/erasures.js';
import {
  ALL_REPORTS,
  CONFLICT_CLAIMS_FOLDER,
  END_RECORDS_FOLDER,
  ERASURE_LOG,
  ERASURES_FOLDER,
  jobsFolder,
  NOTICES_FOLDER,
  OUTBOX_INDEX,
  QUARANTINE_FOLDER,
  QUARANTINE_INDEX,
  REPLAYS_FOLDER,
} from './layout.js';

/** A prefix whose objects the receiver writes, or reads before it writes others. */
export interface StorePlace {
  /** Ends in `/`. */
  readonly prefix: string;
  /** The sources of which every callback needs the place; empty when only some bodies need it, or no callback. */
  readonly sources: readonly string[];
  /** The work that needs the place; null for callbacks. */
  readonly work: OtherWork | null;
  /** Proves that the place can be used. Throws `StoreError`. */
  prove(): Promise<unknown>;
}

interface PlacesConfig {
  readonly sources: Readonly<Record<string, { readonly keyPrefix: string }>>;
  readonly subscribers: Readonly<Record<string, unknown>>;
}

const FOLDERS_OF_SOME_CALLBACKS = [QUARANTINE_INDEX, CONFLICT_CLAIMS_FOLDER];

const FOLDERS_OF_WORK: readonly (readonly [prefix: string, work: OtherWork])[] = [
  [MERGED_FOLDER, 'merging'],
  [ERASURES_FOLDER, 'erasing'],
  [END_RECORDS_FOLDER, 'recovering'],
  [REPLAYS_FOLDER, 'replaying'],
  [ALL_REPORTS, 'reporting'],
];

const FOLDERS_FOR_SUBSCRIBERS: typeof FOLDERS_OF_WORK = [
  [OUTBOX_FOLDER, 'sending'],
  [OUTBOX_INDEX, 'sending'],
  [NOTICES_FOLDER, 'notifying'],
];

/** All places. Each is proven, because callbacks that need an unusable place are answered 503 while everything else works. */
export function storePlaces(
  { sources, subscribers }: PlacesConfig,
  store: Pick<ObjectStore, 'prove'>,
  erasures: Pick<Erasures, 'has'>,
): StorePlace[] {
  const all = Object.keys(sources);
  const place = (prefix: string, neededBy: readonly string[], work: OtherWork | null = null): StorePlace => ({
    prefix,
    sources: neededBy,
    work,
    prove: () => store.prove(prefix + PROOF_NAME),
  });
  const placeOfContent = (prefix: string, neededBy: readonly string[]): StorePlace => ({
    ...place(prefix, neededBy),
    prove: () => store.prove(prefix + PROOF_NAME, PROBE_TAGS),
  });
  const keyPrefixes = new Set(Object.values(sources).map(({ keyPrefix }) => keyPrefix));
  const ofSubscribers = Object.keys(subscribers).length === 0 ? [] : FOLDERS_FOR_SUBSCRIBERS;
  return [
    ...[...keyPrefixes].map((keyPrefix) =>
      placeOfContent(
        jobsFolder(keyPrefix),
        all.filter((name) => sources[name]?.keyPrefix === keyPrefix),
      ),
    ),
    place(LEDGER_FOLDER, all),
    { prefix: ERASURE_LOG, sources: all, work: null, prove: () => erasures.has('') },
    placeOfContent(QUARANTINE_FOLDER, []),
    ...FOLDERS_OF_SOME_CALLBACKS.map((prefix) => place(prefix, [])),
    ...[...FOLDERS_OF_WORK, ...ofSubscribers].map(([prefix, work]) => place(prefix, [], work)),
  ];
}
