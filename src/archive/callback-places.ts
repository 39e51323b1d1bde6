import { LEDGER_FOLDER } from '../ledger/ledger-keys.js';
import { PROOF_NAME } from '../store/object-key.js';
import type { ObjectStore } from '../store/object-store.js';
import type { Erasures } from './erasure/erasures.js';
import {
  CONFLICT_CLAIMS_FOLDER,
  ERASURE_LOG,
  jobsFolder,
  QUARANTINE_FOLDER,
  QUARANTINE_INDEX,
} from './layout.js';

/** Objects that callbacks write, or read before they do, with one prefix. */
export interface CallbackPlace {
  /** Their prefix, ending in `/`. */
  readonly prefix: string;
  /** The sources whose callbacks all need it; empty where only some bodies do. */
  readonly sources: readonly string[];
  /** Proves that it can be used. Throws `StoreError`. */
  prove(): Promise<unknown>;
}

/** All places that callbacks use: each of them is a way to be answered 503 while everything else works. */
export function callbackPlaces(
  sources: Readonly<Record<string, { readonly keyPrefix: string }>>,
  store: Pick<ObjectStore, 'prove'>,
  erasures: Pick<Erasures, 'has'>,
): CallbackPlace[] {
  const all = Object.keys(sources);
  const place = (prefix: string, needing: readonly string[]): CallbackPlace => ({
    prefix,
    sources: needing,
    prove: () => store.prove(prefix + PROOF_NAME),
  });
  const keyPrefixes = new Set(Object.values(sources).map(({ keyPrefix }) => keyPrefix));
  return [
    ...[...keyPrefixes].map((keyPrefix) =>
      place(
        jobsFolder(keyPrefix),
        all.filter((name) => sources[name]?.keyPrefix === keyPrefix),
      ),
    ),
    place(LEDGER_FOLDER, all),
    { prefix: ERASURE_LOG, sources: all, prove: () => erasures.has('') },
    ...[QUARANTINE_FOLDER, QUARANTINE_INDEX, CONFLICT_CLAIMS_FOLDER].map((prefix) => place(prefix, [])),
  ];
}
