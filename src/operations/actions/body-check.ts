import { jobFolder, kindOfPath } from '../../archive/layout.js';
import type { QuarantinedRequest } from '../../archive/quarantine/quarantine.js';
import { ITEM_KINDS, type ItemKind, KINDS, kindOfToken } from '../../domain/kinds.js';
import { parseCallbackQuery } from '../../receive/access/callback-query.js';
import type { ObjectStore } from '../../store/object-store.js';

/** The settings of a source that say what its bodies bring, and where that is stored. */
export interface BodySource {
  readonly contents: readonly string[];
  readonly keyPrefix: string;
}

/** Any of them will do where `contents` says `transcript` alone. */
const TRANSCRIPTS = ITEM_KINDS.filter((kind) => KINDS[kind].retention === 'transcript');

/**
 * Returns whether the archive holds what a quarantined body should have brought: the contents that its query names, else
 * those of its source. Where neither says anything, as of a job that failed, any artefact of the job will do. A conflict is
 * none of these. A body whose source is no longer configured is never taken for stored.
 */
export function createBodyCheck(store: ObjectStore, sources: ReadonlyMap<string, BodySource>) {
  return async (request: QuarantinedRequest): Promise<boolean> => {
    const source = sources.get(request.source);
    if (source === undefined) return false;
    const present = await presentKinds(store, jobFolder(source.keyPrefix, request.jobId));
    const wanted = wantedKinds(request, source);
    return present.size > 0 && wanted.every((kinds) => kinds.some((kind) => present.has(kind)));
  };
}

function wantedKinds({ query, status }: QuarantinedRequest, source: BodySource): (readonly ItemKind[])[] {
  if (status !== 'success') return [];
  const { contents } = parseCallbackQuery(query);
  return (contents.length > 0 ? contents : source.contents).flatMap((token) => {
    const kind = kindOfToken(token.trim());
    if (kind === null) return [];
    return token.trim().toLowerCase() === 'transcript' ? [TRANSCRIPTS] : [[kind]];
  });
}

async function presentKinds(store: ObjectStore, folder: string): Promise<Set<ItemKind>> {
  const kinds = new Set<ItemKind>();
  for await (const { key } of store.list(folder)) {
    const path = key.slice(folder.length);
    if (!path.startsWith('conflicts/')) kinds.add(kindOfPath(path));
  }
  return kinds;
}
