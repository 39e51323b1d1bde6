import pLimit from 'p-limit';
import { REPLACED } from '../domain/artefact-metadata.js';
import type { LedgerLine } from '../domain/delivery.js';
import type { ItemKind } from '../domain/kinds.js';
import type { ListedObject, ObjectInfo, ObjectStore } from '../store/object-store.js';
import { jobFolder, kindOfPath } from './layout.js';

/** One object of a job (docs/admin-api.md). */
export interface Artefact {
  readonly key: string;
  readonly kind: ItemKind;
  readonly size: number;
  /** Null when neither the object nor a ledger line has the hash. */
  readonly sha256: string | null;
  /** SHA-256 of the bytes that an operator replaced by choosing these; null where none did. */
  readonly replaced: string | null;
  readonly contentType: string;
  readonly origin: string | null;
  /** ISO 8601. */
  readonly storedAt: string;
}

/** Limit for one job: most have a handful, but a sender may send any number of attachments. */
const MAX_ARTEFACTS = 1000;
const HEADS_AT_ONCE = 16;

/** Lists the objects of a job below all sources' prefixes, in key order. */
export async function* listJobObjects(
  store: ObjectStore,
  keyPrefixes: readonly string[],
  jobId: string,
): AsyncGenerator<ListedObject & { readonly folder: string }> {
  for (const prefix of keyPrefixes) {
    const folder = jobFolder(prefix, jobId);
    for await (const object of store.list(folder)) yield { ...object, folder };
  }
}

/** Reads the headers of all artefacts of a job. */
export async function readArtefacts(
  store: ObjectStore,
  keyPrefixes: readonly string[],
  jobId: string,
): Promise<{ readonly info: ObjectInfo; readonly kind: ItemKind }[]> {
  const limit = pLimit(HEADS_AT_ONCE);
  const heads: Promise<{ info: ObjectInfo; kind: ItemKind } | null>[] = [];
  for await (const { key, folder } of listJobObjects(store, keyPrefixes, jobId)) {
    if (heads.length >= MAX_ARTEFACTS) break;
    const kind = kindOfPath(key.slice(folder.length));
    heads.push(
      limit(async () => {
        const info = await store.head(key);
        return info === null ? null : { info, kind };
      }),
    );
  }
  return (await Promise.all(heads)).filter((head) => head !== null);
}

/** Describes an object. The hash of a streamed one comes from the ledger, because it was unknown when the object was written. */
export function describeArtefact(
  { info, kind }: { readonly info: ObjectInfo; readonly kind: ItemKind },
  timeline: readonly LedgerLine[],
): Artefact {
  const { metadata } = info;
  return {
    key: info.key,
    kind,
    size: info.size,
    sha256: metadata.sha256 ?? hashFromLedger(info, timeline),
    replaced: metadata[REPLACED] ?? null,
    contentType: info.contentType,
    origin: metadata.origin ?? null,
    storedAt: info.modifiedAt.toISOString(),
  };
}

function hashFromLedger(info: ObjectInfo, timeline: readonly LedgerLine[]): string | null {
  for (const line of timeline) {
    const item = line.items.find(({ key, size }) => key === info.key && size === info.size);
    if (item !== undefined && item.sha256 !== '') return item.sha256;
  }
  return null;
}
