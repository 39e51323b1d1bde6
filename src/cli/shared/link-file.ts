import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file with a link that only this user may read. */
export interface LinkFile {
  readonly file: string;
  /** Removes the file; the link is invalid after this process. */
  remove(): void;
}

/** Writes the link into a file of mode 0600 in a new folder of mode 0700. Throws when nothing can be written there. */
export function writeLinkFile(link: string): LinkFile {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-receiver-'));
  const file = join(folder, 'dashboard-link');
  writeFileSync(file, `${link}\n`, { mode: 0o600, flag: 'wx' });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
