import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a link lies that only this user may read. */
export interface KeptLink {
  readonly file: string;
  /** The link is worth nothing after this process; its file need not stay. */
  remove(): void;
}

/** Writes the link into a file of mode 0600 in a new folder of mode 0700. Throws when nothing can be written there. */
export function keepLink(link: string): KeptLink {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-receiver-'));
  const file = join(folder, 'dashboard-link');
  writeFileSync(file, `${link}\n`, { mode: 0o600, flag: 'wx' });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
