import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { openToWrite } from '../../../../src/store/file/open-file.js';
import { BlockedKeyError, type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const TEXT = { contentType: 'text/plain', metadata: {} };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let outside: string;
let inside: string;
let store: ObjectStore;

beforeEach(async () => {
  folder = await temporaryFolder();
  outside = `${folder.path}/outside`;
  inside = `${folder.path}/store`;
  store = createFileStore({ directory: inside, partSize: 1024 });
  await mkdir(outside);
  await writeFile(`${outside}/secret`, 'secret');
  await store.create('jobs/known/object', Buffer.from('x'), TEXT);
});

afterEach(() => folder.remove());

const operations: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
  create: (key) => store.create(key, Buffer.from('x'), TEXT),
  replace: (key) => store.replace(key, Buffer.from('x'), TEXT),
  async upload(key) {
    const upload = await store.startUpload(key, TEXT);
    await upload.write(Buffer.from('x'));
    return upload.complete();
  },
  head: (key) => store.head(key),
  read: (key) => store.read(key),
  delete: (key) => store.delete(key),
};

async function expectOutsideUntouched(): Promise<void> {
  expect(await readdir(outside)).toEqual(['secret']);
  expect(await readFile(`${outside}/secret`, 'utf8')).toBe('secret');
}

describe.each(Object.entries(operations))('a symbolic link in the store, met by %s', (_, operate) => {
  it.each([
    ['to a file', 'secret'],
    ['to nothing yet', 'made'],
  ])('at the key, %s, is not followed', async (_name, target) => {
    await symlink(`${outside}/${target}`, `${inside}/jobs/known/link`);
    await expect(operate('jobs/known/link')).rejects.toThrow(StoreError);
    await expectOutsideUntouched();
  });

  it.each([
    ['an object there', 'jobs/evil/secret'],
    ['a new object', 'jobs/evil/made'],
    ['a new folder', 'jobs/evil/made/deep/object'],
  ])('in place of the folder of %s is not followed', async (_name, key) => {
    await symlink(outside, `${inside}/jobs/evil`);
    const isNothing = (value: unknown) => expect(value ?? null).toBeNull();
    // Nothing lies behind the link: reading may say so, as long as nothing is read or made there.
    await operate(key).then(isNothing, (error) => expect(error).toBeInstanceOf(StoreError));
    await expectOutsideUntouched();
  });

  it('in place of a folder that was used before is not followed', async () => {
    await rename(`${inside}/jobs`, `${folder.path}/was`);
    await mkdir(`${outside}/known`);
    await writeFile(`${outside}/known/object`, 'other');
    await symlink(outside, `${inside}/jobs`);
    await expect(operate('jobs/known/object')).rejects.toThrow(/symbolic link/);
    expect(await readFile(`${outside}/known/object`, 'utf8')).toBe('other');
  });
});

describe('a symbolic link in the store', () => {
  it.each(['.tmp', '.meta'])('in place of %s stops every write', async (name) => {
    await rename(`${inside}/${name}`, `${folder.path}/was`);
    await symlink(outside, `${inside}/${name}`);
    for (const write of ['create', 'replace', 'upload'])
      await expect(operations[write]?.('jobs/other/object')).rejects.toThrow(/symbolic link/);
    await expectOutsideUntouched();
  });

  it('is no object and no folder of a listing', async () => {
    await symlink(outside, `${inside}/jobs/evil`);
    await symlink(`${outside}/secret`, `${inside}/jobs/known/link`);
    expect(await Array.fromAsync(store.list(''))).toMatchObject([{ key: 'jobs/known/object' }]);
    expect(await Array.fromAsync(store.folders('jobs/'))).toEqual(['jobs/known/']);
    await expect(Array.fromAsync(store.list('jobs/evil/'))).rejects.toThrow(/symbolic link/);
    await expect(Array.fromAsync(store.folders('jobs/evil/'))).rejects.toThrow(/symbolic link/);
  });

  it('in place of metadata is not written through', async () => {
    await symlink(`${outside}/secret`, `${inside}/.meta/link`);
    await expect(openToWrite(`${inside}/.meta/link`)).rejects.toThrow(/ELOOP/);
    await expectOutsideUntouched();
  });

  it('in place of an object is named, for an operator to remove it', async () => {
    await symlink(`${outside}/secret`, `${inside}/jobs/known/link`);
    for (const attempt of [store.head, operations.create]) {
      const error = await attempt?.('jobs/known/link').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BlockedKeyError);
      expect(String(error)).toMatch(/link.*"jobs\/known\/link"/);
    }
  });

  it('among temporary files is swept itself, not its target', async () => {
    await symlink(`${outside}/secret`, `${inside}/.tmp/link`);
    await symlink(outside, `${inside}/.tmp/folder`);
    expect(await store.sweepUploads(new Date(Date.now() + 1000))).toBe(2);
    await expectOutsideUntouched();
  });

  it('is not an object, nor is a named pipe, which blocks no read', async () => {
    execFileSync('mkfifo', [`${inside}/jobs/known/pipe`]);
    expect(await store.read('jobs/known/pipe')).toBeNull();
    await expect(operations.create?.('jobs/known/pipe')).rejects.toThrow(/is .* at this key/);
  });
});
