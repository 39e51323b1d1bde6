import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system in memory that can be made full at once by shrinking it to what it holds. Root only. */
export interface SmallDisk {
  fill(): Promise<void>;
  free(): Promise<void>;
  unmount(): Promise<void>;
}

/** Null where it cannot be mounted: without root, or not on Linux. */
export async function mountSmallDisk(folder: string, bytes: number): Promise<SmallDisk | null> {
  const resize = async (size: number): Promise<void> => {
    await run('mount', ['-o', `remount,size=${size}`, folder]);
  };
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', folder]);
  } catch {
    return null;
  }
  return {
    async fill() {
      const { blocks, bfree, bsize } = await statfs(folder);
      // Data comes in while this is asked for: what no longer fits is refused, so it is tried with a little more.
      for (let spare = 0; spare <= 64; spare += 8) {
        const done = await resize((blocks - bfree + spare) * bsize).then(
          () => true,
          () => false,
        );
        if (done) return;
      }
    },
    free: () => resize(bytes),
    async unmount() {
      await run('umount', ['-l', folder]);
    },
  };
}
