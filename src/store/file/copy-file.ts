import { join } from 'node:path';
import type { CopyResult, ObjectHeaders, ObjectInfo } from '../object-store.js';
import type { FileFolders } from './file-folders.js';
import type { FilePublisher } from './file-publisher.js';
import type { FileRoot } from './file-root.js';
import { versionOf } from './read-file.js';
import { linkTempFile } from './temp-file.js';

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

/**
 * Copies by another link to the same bytes: they never change, and a link takes neither time nor space. The link is made before the source
 * is checked, because another process may remove or replace the source at any time.
 */
export async function copyFile(
  { root, temporary, folders, publisher }: CopyParts,
  { from, key, headers, over }: FileCopyOrder,
): Promise<CopyResult> {
  await root.claim();
  const temp = await linkTempFile(join(root.path, from.key), temporary, key, folders);
  if (temp === null) return 'changed';
  try {
    if (versionOf(await temp.handle.stat({ bigint: true })) !== from.version) return 'changed';
    const result = await (over === null
      ? publisher.create(key, temp, headers)
      : publisher.replaceVersion(key, temp, headers, over.version));
    return result === 'created' ? 'copied' : 'changed';
  } finally {
    await temp.discard();
  }
}
