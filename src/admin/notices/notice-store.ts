import { NOTICES_FOLDER } from '../../archive/layout.js';
import type { Claimed, LeaseWatch } from '../../store/lease-watch.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { createClaim, takeOver } from '../../store/take-over.js';
import type { TrackedProblems } from './notice-state.js';

/** What subscribers know of the receiver's health: the document at `.notices/state.json`. */
export interface NoticesState extends Claimed {
  readonly v: 1;
  /** By subscriber. */
  readonly subscribers: Readonly<Record<string, TrackedProblems>>;
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

const HEADERS = { contentType: 'application/json', metadata: {} } as const;
const STATE_KEY = `${NOTICES_FOLDER}state.json`;
const UNCLAIMED: NoticesState = { v: 1, claim: 0, owner: '', heartbeatAt: null, subscribers: {} };
/** Claims that are kept: a replica that was suspended for that many take-overs still finds its claim taken. */
const CLAIMS_KEPT = 16;

export function createNoticeStore(store: ObjectStore, owner: string, leases: LeaseWatch): NoticeStore {
  const claimKey = (claim: number) => `${NOTICES_FOLDER}claim-${String(claim).padStart(9, '0')}.json`;

  async function read(): Promise<NoticesState> {
    const document = await readDocument(store, STATE_KEY);
    return document?.v === 1 ? (document as unknown as NoticesState) : UNCLAIMED;
  }

  const save = (state: NoticesState) => store.replace(STATE_KEY, Buffer.from(JSON.stringify(state)), HEADERS);

  async function claim(number: number): Promise<boolean> {
    if (!(await createClaim(store, claimKey(number), owner))) return false;
    if (number > CLAIMS_KEPT) await store.delete(claimKey(number - CLAIMS_KEPT));
    // The claim of this number may have been deleted, long after another replica made it.
    return (await read()).claim === number - 1;
  }

  return {
    read,
    save,
    isSuperseded: async (number) => (await store.head(claimKey(number + 1))) !== null,
    takeOver: (state) => takeOver({ name: 'notices', owner, leases, claim, save }, state),
  };
}
