import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The file system that holds a file store, as it comes and goes. */
export interface Volume {
  vanish(): Promise<void>;
  /** Puts it back; resolves with what was written in its place meanwhile. */
  restore(): Promise<string[]>;
  unmount(): Promise<void>;
}

/**
 * Shows `from` at `folder`: as a mount, which can be taken away under a running process, where that is allowed, else
 * as the folder itself, which can be renamed.
 */
export async function attachVolume(from: string, folder: string): Promise<Volume> {
  await mkdir(folder);
  const mount = () => run('mount', ['--bind', from, folder]);
  const unmount = () => run('umount', ['-l', folder]);
  const isMount = await mount().then(
    () => true,
    () => false,
  );
  return {
    async vanish() {
      if (isMount) await unmount();
      else await rename(folder, `${folder}.away`);
    },
    async restore() {
      const beneath = await filesBelow(folder);
      for (let tries = 0; ; tries += 1) {
        try {
          // A receiver that does not notice makes it again at any moment.
          await rm(folder, { recursive: true, force: true });
          if (!isMount) await rename(`${folder}.away`, folder);
          else {
            await mkdir(folder, { recursive: true });
            await mount();
          }
          return beneath;
        } catch (error) {
          if (tries === 20) throw error;
        }
      }
    },
    async unmount() {
      if (isMount) await unmount().catch(() => undefined);
    },
  };
}

export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
