import { hasContextValue } from '../../../domain/context.js';
import { parseLine } from '../../parse-segment.js';
import type { ContextFilter } from '../context-filter.js';
import { contextHash } from './context-hashes.js';
import type { LedgerRow, LineBlock } from './ledger-row.js';

/** A test of rows. Only a line whose hash is among them is decompressed and compared. */
export function matchContext({ name, value }: ContextFilter): (row: LedgerRow) => boolean {
  const hash = contextHash(name, value);
  let block: LineBlock | null = null;
  let texts: readonly string[] = [];
  return (row) => {
    if (row.context === null || !row.context.includes(hash)) return false;
    // Lines of the same time share a block.
    if (row.block !== block) texts = row.block.lines();
    block = row.block;
    return hasContextValue(parseLine(texts[row.index] ?? '')?.context, name, value);
  };
}
