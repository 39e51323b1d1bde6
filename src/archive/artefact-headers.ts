import type { ItemIdentity, Origin } from '../domain/item.js';
import type { ObjectHeaders } from '../store/object-store.js';

/** The delivery of an artefact; determines its key and metadata. */
export interface ArtefactContext {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string | null;
  readonly source: string;
  readonly region: string | null;
  readonly origin: Origin;
  readonly receivedAt: string;
  /** The source's own prefix: empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/** S3 allows 2 KB of user metadata in all; the sender's names are the only part without a bound. */
const MAX_NAME_LENGTH = 512;

/** Content type and user metadata of an artefact (docs/store-layout.md). */
export function artefactHeaders(
  context: ArtefactContext,
  identity: ItemIdentity,
  extra: { fileName?: string | undefined; sha256?: string },
): ObjectHeaders {
  const metadata: Record<string, string> = {
    'job-id': context.jobId,
    kind: identity.kind,
    source: context.source,
    'delivery-id': context.deliveryId,
    'received-at': context.receivedAt,
    origin: context.origin,
  };
  if (context.status !== null) metadata.status = context.status;
  if (context.region !== null) metadata.region = context.region;
  if (extra.sha256 !== undefined) metadata.sha256 = extra.sha256;
  if (extra.fileName !== undefined) metadata['file-name'] = percentEncoded(extra.fileName);
  if (identity.partName !== undefined) metadata['part-name'] = percentEncoded(identity.partName);
  return { contentType: identity.contentType, metadata };
}

function percentEncoded(name: string): string {
  let encoded = '';
  // Truncated between characters, never inside an escape.
  for (const character of name.toWellFormed()) {
    const more = encodeURIComponent(character);
    if (encoded.length + more.length > MAX_NAME_LENGTH) break;
    encoded += more;
  }
  return encoded;
}
