import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeObjectStore } from './object-store.js';
import { itKeepsProcessesApart } from './process-race.js';

async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'file-store-'));
  return {
    options: { url: `file:${folder}/store`, partSize: 64 * 1024 },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

describeObjectStore('the file store', openFolder, 105);
itKeepsProcessesApart('the file store', openFolder);
