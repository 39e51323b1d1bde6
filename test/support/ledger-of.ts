import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerLine } from '../../src/domain/delivery.js';

/** Everything visible in a file store's folder, as keys in order; dot-folders are the store's own. */
export async function visibleKeys(folder: string, prefix = ''): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => !key.startsWith('.') && key.startsWith(prefix))
    .sort();
}

/** All lines of the ledger in a file store's folder, read as a bucket reader would. */
export async function ledgerOf(folder: string): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for (const key of await visibleKeys(folder, 'ledger/')) {
    const text = await readFile(join(folder, key), 'utf8');
    for (const line of text.trimEnd().split('\n')) lines.push(JSON.parse(line) as LedgerLine);
  }
  return lines;
}
