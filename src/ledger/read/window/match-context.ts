import { parseLine } from '../../parse-segment.js';
import { type ContextFilter, matchesContext } from '../context-filter.js';
import { contextHash } from './context-hashes.js';
import type { LedgerRow, LineBlock } from './ledger-row.js';

/** A test of rows. Only a line whose hash is among them is decompressed and compared. */
export function matchContext(filter: ContextFilter): (row: LedgerRow) => boolean {
  const hash = contextHash(filter.name, filter.value);
  let block: LineBlock | null = null;
  let texts: readonly string[] = [];
  return (row) => {
    if (row.context === null || !row.context.includes(hash)) return false;
    // Lines of the same time share a block.
    if (row.block !== block) texts = row.block.lines();
    block = row.block;
    const line = parseLine(texts[row.index] ?? '');
    return line !== null && matchesContext(filter, line);
  };
}
