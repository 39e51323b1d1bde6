import type { LedgerLine } from '../../../domain/delivery.js';
import type { Rollup, RollupBuilder } from './rollup.js';

export function buildRollup(): RollupBuilder {
  const lines: LedgerLine[] = [];
  return {
    add: (line) => lines.push(line),
    finish: (head): Rollup => ({
      v: 1,
      ...head,
      rows: lines.length,
      firstReceivedAt: lines[0]?.receivedAt ?? null,
      lastReceivedAt: lines.at(-1)?.receivedAt ?? null,
      slots: [],
      lastAccepted: { bySource: {}, byRegion: {}, byCredential: {} },
      attention: [],
      attentionOmitted: 0,
      repairs: [],
      repairsOmitted: 0,
    }),
  };
}
