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

/** Objects with one prefix that the receiver writes, or reads before it does. */
export interface StorePlace {
  /** Their prefix, ending in `/`. */
  readonly prefix: string;
  /** The sources whose callbacks all need it; empty where only some bodies do, or no callback. */
  readonly sources: readonly string[];
  /** What needs it; null for callbacks. */
  readonly work: OtherWork | null;
  /** Proves that it can be used. Throws `StoreError`. */
  prove(): Promise<unknown>;
}

interface PlacesConfig {
  readonly sources: Readonly<Record<string, { readonly keyPrefix: string }>>;
  readonly subscribers: Readonly<Record<string, unknown>>;
}

const SOME_CALLBACKS = [QUARANTINE_INDEX, CONFLICT_CLAIMS_FOLDER];

const WORK: readonly (readonly [prefix: string, work: OtherWork])[] = [
  [MERGED_FOLDER, 'merging'],
  [ERASURES_FOLDER, 'erasing'],
  [END_RECORDS_FOLDER, 'recovering'],
  [REPLAYS_FOLDER, 'replaying'],
  [ALL_REPORTS, 'reporting'],
];

const WORK_FOR_SUBSCRIBERS: typeof WORK = [
  [OUTBOX_FOLDER, 'sending'],
  [OUTBOX_INDEX, 'sending'],
  [NOTICES_FOLDER, 'notifying'],
];

/** All places: one that callbacks use is a way to be answered 503 while everything else works. */
export function storePlaces(
  { sources, subscribers }: PlacesConfig,
  store: Pick<ObjectStore, 'prove'>,
  erasures: Pick<Erasures, 'has'>,
): StorePlace[] {
  const all = Object.keys(sources);
  const place = (prefix: string, needing: readonly string[], work: OtherWork | null = null): StorePlace => ({
    prefix,
    sources: needing,
    work,
    prove: () => store.prove(prefix + PROOF_NAME),
  });
  const placeOfContent = (prefix: string, needing: readonly string[]): StorePlace => ({
    ...place(prefix, needing),
    prove: () => store.prove(prefix + PROOF_NAME, PROBE_TAGS),
  });
  const keyPrefixes = new Set(Object.values(sources).map(({ keyPrefix }) => keyPrefix));
  const ofSubscribers = Object.keys(subscribers).length === 0 ? [] : WORK_FOR_SUBSCRIBERS;
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
    ...SOME_CALLBACKS.map((prefix) => place(prefix, [])),
    ...[...WORK, ...ofSubscribers].map(([prefix, work]) => place(prefix, [], work)),
  ];
}
