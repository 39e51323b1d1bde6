import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFileFolders } from '../../../../src/store/file/file-folders.js';
import { createFileRoot } from '../../../../src/store/file/file-root.js';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder.remove());

describe('the folders of a file store', () => {
  it('are made with all their parents, and made again harmlessly', async () => {
    const folders = createFileFolders(createFileRoot(folder.path, { fsync: true }), { fsync: true });
    const deep = join(folder.path, 'a/b/c');
    await Promise.all([
      folders.ensure(deep),
      folders.ensure(deep),
      folders.ensure(join(folder.path, 'a/b/d')),
    ]);
    await folders.ensure(deep);
    expect(existsSync(deep)).toBe(true);
  });

  it('are refused without endless retries where a folder exists but is not writable', async () => {
    const store = createFileStore({ directory: '/proc/nope/store', partSize: 1024 });
    const headers = { contentType: 'text/plain', metadata: {} };
    await expect(store.create('key', Buffer.from('x'), headers)).rejects.toMatchObject({
      name: 'StoreError',
    });
  });
});
