import type { LedgerLine } from '../domain/delivery.js';
import { readHourFiles } from '../ledger/compact/hour-files.js';
import { openLedgerFile } from '../ledger/parquet/open-ledger-file.js';
import { readSegment } from '../ledger/read-segment.js';
import { createCoverage } from '../ledger/rollup/covered-numbers.js';
import type { Rollup } from '../ledger/rollup/rollup.js';
import { segmentKey } from '../ledger/segment-key.js';
import type { ObjectStore } from '../store/object-store.js';
import { announcedAs } from './announcements.js';
import type { WaitingEvent } from './outbox-state.js';
import type { JobEvent } from './receiver-event.js';

/** The event that waits, read from the ledger; null when the line is gone. Throws as the store does. */
export async function findEvent(store: ObjectStore, waiting: WaitingEvent): Promise<JobEvent | null> {
  for await (const line of linesOf(store, waiting)) {
    const event = line.receivedAt === waiting.receivedAt ? await announcedAs(store, line, waiting.id) : null;
    if (event !== null) return event;
  }
  return null;
}

async function* linesOf(store: ObjectStore, { hour, part }: WaitingEvent): AsyncGenerator<LedgerLine> {
  const [writer = '', number] = part.split('~');
  const place = number === undefined ? null : { hour, writer, number: Number(number) };
  const segment = place && (await readSegment(store, segmentKey(place)));
  if (segment !== null) return yield* segment.entries.map(({ line }) => line);
  const { rollups } = await readHourFiles(store, hour);
  for (const rollup of rollups) {
    const hasLine = place === null ? rollup.n === Number(part) : createCoverage([rollup])(place);
    if (hasLine) yield* fileLines(store, rollup);
  }
}

async function* fileLines(store: ObjectStore, { parquet }: Rollup): AsyncGenerator<LedgerLine> {
  if (parquet === null) return;
  const file = await openLedgerFile(store, parquet);
  for (const index of file.rowGroups.keys()) {
    for (const { line } of await file.readLines(index)) yield line;
  }
}
