import { quarantineFolder } from '../../archive/layout.js';
import { isDelivery, type LedgerItem, type LedgerLine } from '../../domain/delivery.js';
import type { StoredItem } from '../../domain/item.js';
import { type RetentionClass, retentionClassOf } from '../../domain/kinds.js';
import { isKey } from '../../store/object-key.js';

/** Content of one object of the store according to a ledger line. */
export interface ArtefactClaim
  extends Pick<LedgerLine, 'jobId' | 'source' | 'origin' | 'deliveryId' | 'receivedAt'> {
  readonly key: string;
  readonly kind: ClaimKind;
  /** Bytes. */
  readonly size: number;
  /** Null where the line has none: the line of a quarantined body leaves it to `request.json`. */
  readonly sha256: string | null;
}

type ClaimKind = StoredItem['kind'] | 'quarantine';

export function objectKindOf(kind: ClaimKind): RetentionClass {
  return kind === 'quarantine' ? kind : retentionClassOf(kind);
}

/** The objects that a line records; `unusable` counts items that name no object. */
export function claimsOf(line: LedgerLine): { readonly claims: ArtefactClaim[]; readonly unusable: number } {
  const { jobId, source, origin, deliveryId, receivedAt, items } = line;
  // Lines of accesses, erasures and expiries do not record stored objects.
  if (!isDelivery(origin)) return { claims: [], unusable: 0 };
  const context = { jobId, source, origin, deliveryId, receivedAt };
  const claims: ArtefactClaim[] = items
    .filter(isUsable)
    .map(({ key, kind, size, sha256 }) => ({ ...context, key, kind, size, sha256: sha256 || null }));
  const unusable = items.length - claims.length;
  if (line.outcome === 'quarantined') {
    const key = `${quarantineFolder(deliveryId)}body`;
    claims.push({ ...context, key, kind: 'quarantine', size: line.bytes, sha256: null });
  }
  return { claims, unusable };
}

/** Checks the types at run time, because a line that was edited by hand may hold anything. */
function isUsable({ key, kind, size, sha256 }: LedgerItem): boolean {
  const hasTypes =
    typeof key === 'string' && typeof kind === 'string' && Number.isSafeInteger(size) && size >= 0;
  return hasTypes && isKey(key) && (sha256 === undefined || typeof sha256 === 'string');
}
