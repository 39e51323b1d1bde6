import { type Artefact, describeArtefact, readArtefacts } from '../../archive/artefacts.js';
import { isErased } from '../../archive/erasure/erasure.js';
import {
  isTranscript,
  KINDS,
  RETRIEVABLE_KINDS,
  type TranscriptFormat,
  type TranscriptKind,
} from '../../domain/kinds.js';
import { isConflict } from '../../domain/next-steps.js';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.js';

/** A stored transcript of a job. */
export interface StoredTranscript extends Artefact {
  readonly info: ObjectInfo;
}

const TRANSCRIPT_KINDS = RETRIEVABLE_KINDS.filter((kind): kind is TranscriptKind => isTranscript({ kind }));

/** Kinds of transcripts, the most readable one first: text before JSON. */
const BY_READABILITY = [...TRANSCRIPT_KINDS].sort((a, b) => rank(a) - rank(b));

function rank(kind: TranscriptKind): number {
  return KINDS[kind].check === 'text' ? 0 : 1;
}

/** The names of the kinds on the command line, the most readable one first. */
export const TRANSCRIPT_FORMATS: readonly TranscriptFormat[] = BY_READABILITY.map(
  (kind) => KINDS[kind].document,
);

export function formatOf({ kind }: Pick<Artefact, 'kind'>): TranscriptFormat {
  return KINDS[kind as TranscriptKind].document;
}

/**
 * The transcripts of a job below these prefixes: conflicts last, the most readable kind first. None for an erased job, even if some of
 * it could not be removed. Throws `StoreError`.
 */
export async function findTranscripts(
  store: ObjectStore,
  keyPrefixes: readonly string[],
  jobId: string,
): Promise<StoredTranscript[]> {
  const [found, erased] = await Promise.all([
    readArtefacts(store, keyPrefixes, jobId),
    isErased(store, jobId),
  ]);
  if (erased) return [];
  return found
    .filter(isTranscript)
    .map((artefact) => ({ ...describeArtefact(artefact, []), info: artefact.info }))
    .sort((a, b) => Number(isConflict(a)) - Number(isConflict(b)) || orderOf(a) - orderOf(b));
}

function orderOf({ kind }: Artefact): number {
  return BY_READABILITY.indexOf(kind as TranscriptKind);
}
