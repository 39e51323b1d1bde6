import { type ArtefactFacts, artefactMetadata } from '../domain/artefact-metadata.js';
import type { ItemIdentity } from '../domain/item.js';
import { retentionClassOf } from '../domain/kinds.js';
import type { ObjectHeaders } from '../store/object-store.js';

/** The delivery of an artefact; determines its key and metadata. */
export interface ArtefactContext extends ArtefactFacts {
  /** The source's own prefix: empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/** Content type, user metadata and tags of an artefact (docs/store-layout.md). */
export function artefactHeaders(
  context: ArtefactContext,
  { kind, contentType, partName }: ItemIdentity,
  { fileName, sha256 }: { fileName?: string | undefined; sha256?: string },
): ObjectHeaders {
  return {
    contentType,
    metadata: artefactMetadata(context, { kind, sha256, fileName, partName }),
    content: { kind: retentionClassOf(kind), source: context.source },
  };
}
