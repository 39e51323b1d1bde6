import { hasContextValue, isContextValue } from '../domain/context.js';
import { Problem } from '../domain/problem.js';
import { parseLine } from '../ledger/parse-segment.js';
import { contextHash } from './context-hashes.js';
import type { LedgerRow, LineBlock } from './ledger-row.js';

/** One wanted value of the context. */
export interface ContextFilter {
  readonly name: string;
  readonly value: string;
}

/** Reads `name:value`. Throws `Problem` `request-invalid`. */
export function parseContextFilter(text: string): ContextFilter {
  const [, name, value] = /^([^:]+):(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined || !isContextValue(value)) {
    throw new Problem('request-invalid', 'context must be <name>:<value>, such as call:123.');
  }
  return { name, value };
}

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
