import type { ItemIdentity, ItemKind } from '../domain/item.js';

const JSON_TYPE = 'application/json';
const STORED_TYPES: Partial<Record<ItemKind, string>> = {
  'transcript.json-v2': JSON_TYPE,
  jobinfo: JSON_TYPE,
  'transcript.txt': 'text/plain; charset=utf-8',
  'transcript.srt': 'application/x-subrip; charset=utf-8',
};

/** Identity of a kind that goes by one content type; `senderType` counts for the kinds that do not. */
export function identityOf(kind: ItemKind, senderType = 'application/octet-stream'): ItemIdentity {
  return { kind, contentType: STORED_TYPES[kind] ?? senderType };
}
