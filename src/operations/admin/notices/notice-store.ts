import { NOTICES_FOLDER } from '../../../archive/layout.js';
import type { Claimed, LeaseWatch } from '../../../store/lease-watch.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../../store/read-document.js';
import { createClaimSequence, takeOver } from '../../../store/take-over.js';
import type { TrackedIssues } from './notice-state.js';

/** What subscribers know of the receiver's health: the document at `.notices/state.json`. */
export interface NoticesState extends Claimed {
  readonly v: 1;
  /** By subscriber. */
  readonly subscribers: Readonly<Record<string, TrackedIssues>>;
}

/** State and claims of the replica that sends notices. Methods throw `StoreError`. */
export interface NoticeStore {
  read(): Promise<NoticesState>;
  /** Only for the replica that holds the latest claim. */
  save(state: NoticesState): Promise<void>;
  isSuperseded(claim: number): Promise<boolean>;
  /** Null while another replica is alive. */
  takeOver(state: NoticesState): Promise<NoticesState | null>;
}

const STATE_KEY = `${NOTICES_FOLDER}state.json`;
const UNCLAIMED: NoticesState = { v: 1, claim: 0, owner: '', heartbeatAt: null, subscribers: {} };

export function createNoticeStore(store: ObjectStore, owner: string, leases: LeaseWatch): NoticeStore {
  const claimKey = (claim: number) => `${NOTICES_FOLDER}claim-${String(claim).padStart(9, '0')}.json`;

  async function read(): Promise<NoticesState> {
    const document = await readDocument(store, STATE_KEY);
    return document?.v === 1 ? (document as unknown as NoticesState) : UNCLAIMED;
  }

  const save = (state: NoticesState) =>
    store.replace(STATE_KEY, Buffer.from(JSON.stringify(state)), DOCUMENT_HEADERS);

  const claims = createClaimSequence(store, claimKey, async () => (await read()).claim);

  return {
    read,
    save,
    isSuperseded: claims.isSuperseded,
    takeOver: (state) =>
      takeOver(
        { name: 'notices', owner, leases, claim: (number) => claims.claim(number, owner), save },
        state,
      ),
  };
}
