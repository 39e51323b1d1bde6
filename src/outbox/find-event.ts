import type { LedgerLine } from '../domain/delivery.js';
import type { JobEvent } from '../events/receiver-event.js';
import { readFinishedFiles } from '../ledger/compact/hour-files.js';
import { openLedgerFile } from '../ledger/compact/open-ledger-file.js';
import { LEDGER_PARQUET_FOLDER } from '../ledger/ledger-keys.js';
import { readSegment } from '../ledger/ledger-reader.js';
import type { ObjectStore } from '../store/object-store.js';
import { announcedAs } from './announcements.js';
import { partitionOf } from './follow/hour-folders.js';
import type { WaitingEvent } from './outbox-state.js';

/** Makes a waiting event again of its ledger line; null when the line is gone. Throws as the store does. */
export async function findEvent(store: ObjectStore, waiting: WaitingEvent): Promise<JobEvent | null> {
  const { id, hour, part, receivedAt } = waiting;
  for await (const line of linesOf(store, hour, part, Date.parse(receivedAt))) {
    const event = line.receivedAt === receivedAt ? await announcedAs(store, line, id) : null;
    if (event !== null) return event;
  }
  return null;
}

async function* linesOf(
  store: ObjectStore,
  hour: string,
  part: string,
  receivedAt: number,
): AsyncGenerator<LedgerLine> {
  if (part.endsWith('.parquet')) {
    return yield* fileLines(store, `${LEDGER_PARQUET_FOLDER}${hour}${part}`, receivedAt);
  }
  const segment = await readSegment(store, `${partitionOf(hour)}${part}.ndjson`);
  if (segment !== null) return yield* segment.entries.map(({ line }) => line);
  for (const { parquetKey, segments } of await readFinishedFiles(store, hour)) {
    if (parquetKey !== null && segments.includes(`${part}.ndjson`)) {
      yield* fileLines(store, parquetKey, receivedAt);
    }
  }
}

async function* fileLines(store: ObjectStore, key: string, receivedAt: number): AsyncGenerator<LedgerLine> {
  const file = await openLedgerFile(store, key);
  for (const [index, group] of file?.rowGroups.entries() ?? []) {
    if (group.first <= receivedAt && receivedAt <= group.last) yield* (await file?.readLines(index)) ?? [];
  }
}
