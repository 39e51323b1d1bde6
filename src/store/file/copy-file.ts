import { link } from 'node:fs/promises';
import { join } from 'node:path';
import type { CopyResult, ObjectHeaders, ObjectInfo } from '../object-store.js';
import type { FileFolders } from './file-folders.js';
import type { FilePublisher } from './file-publisher.js';
import type { FileRoot } from './file-root.js';
import { openIfThere } from './open-file.js';
import { versionOf } from './read-file.js';
import { type TempFile, tempFilePath, unlinkTempFile } from './temp-file.js';

interface CopyParts {
  readonly root: FileRoot;
  readonly temporary: string;
  readonly folders: FileFolders;
  readonly publisher: FilePublisher;
}

interface FileCopyOrder {
  readonly from: ObjectInfo;
  readonly key: string;
  readonly headers: ObjectHeaders;
  readonly over: ObjectInfo | null;
}

/** A copy is another link to the same bytes: they never change, and a link takes neither time nor room. */
export async function copyFile(
  parts: CopyParts,
  { from, key, headers, over }: FileCopyOrder,
): Promise<CopyResult> {
  const { root, temporary, folders, publisher } = parts;
  await root.claim();
  const source = join(root.path, from.key);
  // Kept open so that its inode is not reused meanwhile.
  const handle = await openIfThere(source);
  if (handle === null) return 'changed';
  try {
    if (versionOf(await handle.stat({ bigint: true })) !== from.version) return 'changed';
    if (over === null) {
      const linked: TempFile = { path: source, handle, discard: () => handle.close() };
      return (await publisher.create(key, linked, headers)) === 'created' ? 'copied' : 'changed';
    }
    const path = await tempFilePath(temporary, key, folders);
    await link(source, path);
    const temp: TempFile = { path, handle, discard: () => unlinkTempFile(path) };
    const replaced = await publisher.replaceVersion(key, temp, headers, over.version).finally(temp.discard);
    return replaced === 'created' ? 'copied' : 'changed';
  } finally {
    await handle.close();
  }
}
