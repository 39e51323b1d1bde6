import { openFolderIfThere } from './open-file.js';

/** Makes the entries of a folder durable. A missing folder has none. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await openFolderIfThere(folder);
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Like `syncFolder`, but concurrent calls for one folder share an fsync: new jobs all change the folder above theirs.
 *
 * A call never joins an fsync in flight, because that one may miss its change. It waits for it, and shares the next fsync
 * with all other waiting calls. When the one in flight fails, they fail as well: the kernel reports a lost write only once.
 */
export function createSharedFolderSync(sync: (folder: string) => Promise<void> = syncFolder) {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();

  function start(folder: string): Promise<void> {
    const syncing = sync(folder).finally(() => {
      if (running.get(folder) === syncing) running.delete(folder);
    });
    running.set(folder, syncing);
    return syncing;
  }

  return function sharedSync(folder: string): Promise<void> {
    const current = running.get(folder);
    if (current === undefined) return start(folder);
    const next =
      waiting.get(folder) ?? current.finally(() => waiting.delete(folder)).then(() => start(folder));
    waiting.set(folder, next);
    return next;
  };
}
