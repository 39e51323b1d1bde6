import type { ObjectInfo, ObjectStore } from '../../store/object-store.js';
import { conflictKey, disputedFile, kindOfPath } from '../layout.js';
import { readBack } from '../read-back.js';

/** Location of an artefact whose versions are compared. */
export interface ArtefactPlace {
  /** Folder of its job. */
  readonly folder: string;
  /** Key of the artefact itself, below that folder. */
  readonly path: string;
}

const KEY_IN_JOB = /^((?:[^/]+\/)*?jobs\/[^/]+\/)(.+)$/;

/** The artefact of a version: the key is its own or that of a conflict. Null for keys outside of jobs. */
export function artefactOfVersion(key: string): ArtefactPlace | null {
  const [, folder, path] = KEY_IN_JOB.exec(key) ?? [];
  if (folder === undefined || path === undefined) return null;
  const fileName = disputedFile(path);
  if (fileName === null) return { folder, path };
  return { folder, path: kindOfPath(path) === 'attachment' ? `attachments/${fileName}` : fileName };
}

/** Hex SHA-256 of an object, from its metadata or, without that, from its bytes. Null when it no longer exists. */
async function hashOf(store: ObjectStore, { key, metadata }: ObjectInfo): Promise<string | null> {
  return metadata.sha256 ?? (await readBack(store, key))?.sha256 ?? null;
}

/** The conflict with these bytes; null when there is none. Compares hashes, because the name of a streamed conflict has none. */
export async function findConflict(
  store: ObjectStore,
  { folder, path }: ArtefactPlace,
  expected: { readonly size: number; readonly sha256: string },
): Promise<ObjectInfo | null> {
  for await (const { key, size } of store.list(conflictKey(folder, path, ''))) {
    if (size !== expected.size) continue;
    const info = await store.head(key);
    if (info !== null && (await hashOf(store, info)) === expected.sha256) return info;
  }
  return null;
}
