import type { ItemIdentity, ItemKind } from '../domain/item.js';

const JSON_TYPE = 'application/json';
const STORED_TYPES: Partial<Record<ItemKind, string>> = {
  'transcript.json-v2': JSON_TYPE,
  jobinfo: JSON_TYPE,
  'transcript.txt': 'text/plain; charset=utf-8',
  'transcript.srt': 'application/x-subrip; charset=utf-8',
};

/** The identity of a kind. `senderType` is used for kinds without a fixed content type. */
export function identityOf(kind: ItemKind, senderType = 'application/octet-stream'): ItemIdentity {
  return { kind, contentType: STORED_TYPES[kind] ?? senderType };
}
