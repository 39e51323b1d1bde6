import { quarantineFolder } from '../../archive/layout.js';
import { hashBody } from '../../archive/read-back.js';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import type { ArtefactClaim } from './artefact-claims.js';

/**
 * How an artefact was compared: `content`, its bytes were read and hashed; `metadata`, by the hash in its metadata; `size` only, because
 * it was streamed and its metadata has no hash.
 */
export type Comparison = 'content' | 'metadata' | 'size';

/**
 * The part that differs from the ledger. `request`: the `request.json` beside a quarantined body is missing or unreadable. `claims`: two
 * lines record different content for one object.
 */
export type DamageReason = Comparison | 'request' | 'claims';

export interface FoundObject {
  readonly size: number;
  /** From the bytes if they were read, otherwise from the metadata; null if that has none. */
  readonly sha256: string | null;
}

export type CheckResult =
  | { readonly state: 'intact'; readonly compared: Comparison; readonly found: FoundObject }
  | { readonly state: 'missing' }
  | { readonly state: 'damaged'; readonly reason: DamageReason; readonly found: FoundObject };

const MISSING: CheckResult = { state: 'missing' };

export interface CheckOptions {
  /** Read and hash the bytes. */
  readonly deep: boolean;
  /** Called with the number of further bytes that were read. */
  readonly onRead: (bytes: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** Compares one object with its claim. Throws `StoreError`, or the signal's reason. */
export async function checkArtefact(
  store: ObjectStore,
  claim: ArtefactClaim,
  options: CheckOptions,
): Promise<CheckResult> {
  if (claim.kind === 'quarantine') return checkQuarantined(store, claim, options);
  return options.deep ? checkContent(store, claim, options) : checkHead(store, claim);
}

/** The hash of a quarantined body is in its `request.json`, without which an operator cannot see the body either. */
async function checkQuarantined(
  store: ObjectStore,
  claim: ArtefactClaim,
  options: CheckOptions,
): Promise<CheckResult> {
  const request = await readDocument(store, `${quarantineFolder(claim.deliveryId)}request.json`);
  if (request === null) {
    const info = await store.head(claim.key);
    return info === null ? MISSING : { state: 'damaged', reason: 'request', found: foundBy(info) };
  }
  const full = { ...claim, sha256: typeof request.sha256 === 'string' ? request.sha256 : null };
  return options.deep ? checkContent(store, full, options) : checkHead(store, full);
}

async function checkHead(store: ObjectStore, claim: ArtefactClaim): Promise<CheckResult> {
  const info = await store.head(claim.key);
  return info === null ? MISSING : compareInfo(info, claim);
}

async function checkContent(
  store: ObjectStore,
  claim: ArtefactClaim,
  { onRead, signal }: CheckOptions,
): Promise<CheckResult> {
  const reading = await store.read(claim.key);
  if (reading === null) return MISSING;
  const result = compareInfo(reading.info, claim);
  if (result.state === 'damaged' && result.reason === 'size') {
    reading.body.destroy();
    return result;
  }
  const found = await hashBody(reading, (bytes) => {
    signal?.throwIfAborted();
    onRead(bytes);
  });
  if (claim.sha256 !== null && found.sha256 !== claim.sha256) {
    return { state: 'damaged', reason: 'content', found };
  }
  if (result.state === 'damaged') return result;
  return { state: 'intact', compared: claim.sha256 === null ? 'size' : 'content', found };
}

function compareInfo(info: ObjectInfo, claim: ArtefactClaim): CheckResult {
  const found = foundBy(info);
  if (found.size !== claim.size) return { state: 'damaged', reason: 'size', found };
  if (found.sha256 === null || claim.sha256 === null) return { state: 'intact', compared: 'size', found };
  return found.sha256 === claim.sha256
    ? { state: 'intact', compared: 'metadata', found }
    : { state: 'damaged', reason: 'metadata', found };
}

function foundBy({ size, metadata }: ObjectInfo): FoundObject {
  return { size, sha256: metadata.sha256 ?? null };
}
