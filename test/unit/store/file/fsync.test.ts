import { existsSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';

/**
 * What survives a power failure is what was synced, in the right order. No test can pull the plug, so these look at the
 * calls that make files and folders durable.
 */

const KEY = 'jobs/a/transcript.json';
const HEADERS = { contentType: 'application/json', metadata: { 'job-id': 'a' } };

interface Synced {
  readonly ino: number;
  /** Whether the object was visible at that moment. */
  readonly visible: boolean;
}

let folder: string;
let directory: string;
let synced: Synced[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fsync-'));
  directory = path.join(folder, 'deep', 'store');
  synced = [];
  const handle = await open(folder);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const sync = prototype.sync;
  jest.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const { ino } = await this.stat();
    synced.push({ ino, visible: existsSync(pathOf(KEY)) });
    await sync.call(this);
  });
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const pathOf = (key: string) => path.join(directory, key);
const inodeOf = async (place: string) => (await stat(place)).ino;
const inodes = () => synced.map(({ ino }) => ino);

/** The folders from that of the object up to the root of the store. */
const FOLDERS = ['jobs/a', 'jobs', ''];

async function writeWhole(store = createFileStore({ directory, partSize: 1024 })) {
  return { store, result: await store.create(KEY, Buffer.from('{}'), HEADERS) };
}

async function writeInParts() {
  const store = createFileStore({ directory, partSize: 1024 });
  const upload = await store.startUpload(KEY, HEADERS);
  await upload.write(Buffer.alloc(1024, 'a'));
  await upload.write(Buffer.alloc(10, 'b'));
  return { store, result: await upload.complete() };
}

describe('an object in the file store', () => {
  it.each([
    ['written whole', () => writeWhole()],
    ['uploaded in parts', writeInParts],
  ])('%s is synced before it becomes visible, and its folders after that', async (_name, write) => {
    expect((await write()).result).toBe('created');
    const object = await inodeOf(pathOf(KEY));
    expect(synced.find(({ ino }) => ino === object)).toEqual({ ino: object, visible: false });
    const last = await inodeOf(path.dirname(pathOf(KEY)));
    expect(synced).toContainEqual({ ino: last, visible: true });
    for (const each of FOLDERS) expect(inodes()).toContain(await inodeOf(pathOf(each)));
  });

  it('has metadata that is synced, with its folders, before the object becomes visible', async () => {
    await writeWhole();
    const metaFolder = pathOf('.meta/jobs/a');
    const [name = ''] = await readdir(metaFolder);
    const hidden = synced.filter(({ visible }) => !visible).map(({ ino }) => ino);
    for (const each of [path.join(metaFolder, name), metaFolder, pathOf('.meta/jobs'), pathOf('.meta')])
      expect(hidden).toContain(await inodeOf(each));
  });

  it('needs four fsyncs of its own in a new job: its bytes, its metadata, and the folder of each', async () => {
    const { store } = await writeWhole();
    synced = [];
    await store.create('jobs/b/transcript.json', Buffer.from('{}'), HEADERS);
    const shared = [await inodeOf(pathOf('jobs')), await inodeOf(pathOf('.meta/jobs'))];
    expect(inodes().filter((ino) => !shared.includes(ino))).toHaveLength(4);
    expect(inodes()).toHaveLength(6);
  });

  it('of another process is synced into its folder before the store says that it exists', async () => {
    await writeWhole();
    synced = [];
    const { result } = await writeWhole();
    expect(result).toBe('exists');
    expect(inodes()).toContain(await inodeOf(path.dirname(pathOf(KEY))));
  });
});

describe('a new file store', () => {
  it('is durable up to the folder that was there before', async () => {
    await writeWhole();
    for (const each of [folder, path.join(folder, 'deep'), directory]) {
      expect(inodes()).toContain(await inodeOf(each));
    }
  });
});

it('nothing is synced where the operating system may decide', async () => {
  await writeWhole(createFileStore({ directory, partSize: 1024, fsync: false }));
  expect(synced).toEqual([]);
});
