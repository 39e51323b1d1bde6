import type { ItemIdentity } from '../../domain/item.js';
import { type ItemKind, KINDS } from '../../domain/kinds.js';

/** The identity of a kind. `senderType` is used for kinds without a fixed content type. */
export function identityOf(kind: ItemKind, senderType = 'application/octet-stream'): ItemIdentity {
  return { kind, contentType: KINDS[kind].mediaType ?? senderType };
}
