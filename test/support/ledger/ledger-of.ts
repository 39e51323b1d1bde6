import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCESS_ORIGIN, type LedgerLine } from '../../../src/domain/delivery.js';

/** All visible objects in a file store's folder, as sorted keys. Dot-folders belong to the store. */
export async function visibleKeys(folder: string, prefix = ''): Promise<string[]> {
  const within = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  if (within !== '' && !existsSync(join(folder, within))) return [];
  const names = await readdir(join(folder, within), { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => !key.startsWith('.') && key.startsWith(prefix))
    .sort();
}

/**
 * All lines of the ledger in a file store's folder, read as a bucket reader would; without access lines, because tests read content and
 * sign in on the admin port themselves.
 */
export async function ledgerOf(folder: string): Promise<LedgerLine[]> {
  return (await allLinesOf(folder)).filter(({ origin }) => origin !== ACCESS_ORIGIN);
}

/** The access lines: who read content, and who signed in. */
export async function accessLinesOf(folder: string): Promise<LedgerLine[]> {
  return (await allLinesOf(folder)).filter(({ origin }) => origin === ACCESS_ORIGIN);
}

async function allLinesOf(folder: string): Promise<LedgerLine[]> {
  return (await ledgerTextsOf(folder)).map((line) => JSON.parse(line) as LedgerLine);
}

/** The same lines as they are stored. */
export async function ledgerTextsOf(folder: string): Promise<string[]> {
  const lines: string[] = [];
  for (const key of await visibleKeys(folder, 'ledger/')) lines.push(...(await textsOf(folder, key)));
  return lines;
}

/** The lines of one segment of the ledger. */
export async function segmentOf(folder: string, key: string): Promise<LedgerLine[]> {
  return (await textsOf(folder, key)).map((line) => JSON.parse(line) as LedgerLine);
}

async function textsOf(folder: string, key: string): Promise<string[]> {
  const text = await readFile(join(folder, key), 'utf8');
  return text.trimEnd().split('\n');
}
