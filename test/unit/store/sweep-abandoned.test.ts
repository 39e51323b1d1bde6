import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore, PendingUpload } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { sweepAbandoned } from '../../../src/store/sweep-abandoned.js';

const HOUR = 3_600_000;

describe('sweepAbandoned', () => {
  let folder: string;
  let store: ObjectStore;
  let uploads: PendingUpload[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sweep-'));
    store = await openStore({ url: `file:${folder}` });
    uploads = [];
    for (const key of ['old', 'new']) {
      const upload = await store.startUpload(key, { contentType: 'a/b', metadata: {} });
      uploads.push(upload);
      await upload.write(Buffer.from(key));
    }
    const [first] = await readdir(`${folder}/.tmp`);
    const old = new Date(Date.now() - 25 * HOUR);
    await utimes(`${folder}/.tmp/${first}`, old, old);
  });
  afterEach(async () => {
    for (const upload of uploads) await upload.abort();
    await rm(folder, { recursive: true, force: true });
  });

  it('removes canaries of dead processes, not those of live ones', async () => {
    for (const name of ['dead', 'alive']) {
      await store.replace(`.canary/${name}`, Buffer.from('x'), { contentType: 'a/b', metadata: {} });
    }
    const old = new Date(Date.now() - 25 * HOUR);
    await utimes(`${folder}/.canary/dead`, old, old);
    await sweepAbandoned(store, 24 * HOUR);
    expect(await readdir(`${folder}/.canary`)).toEqual(['alive']);
  });

  it('goes by the clock of the store: a process whose clock is ahead ends no live upload', async () => {
    const ahead = 26 * HOUR;
    const behind: ObjectStore = { ...store, clockOffset: () => -ahead };
    await store.replace('.canary/alive', Buffer.from('x'), { contentType: 'a/b', metadata: {} });
    const clock = () => Date.now() + ahead;
    expect(await sweepAbandoned(behind, 24 * HOUR, clock)).toBe(1);
    expect(await readdir(`${folder}/.tmp`)).toHaveLength(1);
    expect(await readdir(`${folder}/.canary`)).toEqual(['alive']);
  });
});
