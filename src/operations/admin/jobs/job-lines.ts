import { ACCESS_ORIGIN, type LedgerLine } from '../../../domain/delivery.js';
import { extentStart, type IndexExtent, withUnread } from '../../../index/index-extent.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { PlacedLine, UnreadLines } from '../../../ledger/log/read-lines-at.js';
import { scanLines } from '../../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../../store/object-store.js';

/** What the ledger says of a job. */
export interface JobLines {
  /** Oldest first. */
  readonly lines: readonly LedgerLine[];
  /** Places of those that the index has. */
  readonly places: ReadonlyMap<LedgerLine, PlacedLine>;
  /** Whether the ledger has further lines of the job in the time of the index, older than these. */
  readonly isCut: boolean;
  /**
   * What the index had, without what could not be read here: of earlier times only the lines that were written when something of the job
   * was stored are here.
   */
  readonly index: IndexExtent;
}

/**
 * Lines of a job, and as many accesses to its content: a page that stays open causes hundreds, and they must leave the other lines
 * their room. A sender that repeats a callback for days causes more, and `GET deliveries` lists those.
 */
const MAX_LINES = 500;
const MINUTE = 60_000;
/** A line is written after what it records is stored. */
const LIKELY = { before: MINUTE, after: 5 * MINUTE };
const MAX_RANGES = 24;

/**
 * Rejects with `StoreError` and `IndexError`.
 *
 * @param storedAt when something of the job was stored, in milliseconds since the epoch: what the index lacks is read from the log
 */
export async function readJobLines(
  store: ObjectStore,
  view: Pick<LedgerView, 'search' | 'deliveries'>,
  jobId: string,
  storedAt: readonly number[],
): Promise<JobLines> {
  const query = { job: jobId, limit: MAX_LINES };
  const [others, accesses] = await Promise.all([
    view.search({ ...query, without: 'accesses' }),
    view.deliveries({ ...query, origin: ACCESS_ORIGIN }),
  ]);
  const { index } = accesses;
  const older = await linesBefore(store, jobId, extentStart(index), storedAt);
  const found = others.entries.map(({ line }) => line);
  return {
    lines: oldestFirst([...older.lines, ...accesses.deliveries, ...found]),
    places: new Map(others.entries.map(({ line, place }) => [line, place])),
    isCut: others.nextCursor !== null || accesses.nextCursor !== null,
    index: withUnread(index, [...others.unread, ...older.unread]),
  };
}

async function linesBefore(
  store: ObjectStore,
  jobId: string,
  begin: number,
  storedAt: readonly number[],
): Promise<{ readonly lines: readonly LedgerLine[]; readonly unread: readonly UnreadLines[] }> {
  const lines: LedgerLine[] = [];
  const unread = new Map<string, UnreadLines>();
  const minutes = new Set(storedAt.map((time) => Math.floor(time / MINUTE) * MINUTE));
  const old = [...minutes].filter((time) => time - LIKELY.before < begin).sort((a, b) => a - b);
  for (const time of old.slice(0, MAX_RANGES)) {
    const scan = scanLines({
      store,
      since: time - LIKELY.before,
      until: Math.min(time + MINUTE + LIKELY.after, begin),
      onFault: (_text, key) => void unread.set(key, { key, lines: null }),
      onUnreadable: (key, lines) => void unread.set(key, { key, lines }),
    });
    for await (const { line } of scan) if (line.jobId === jobId) lines.push(line);
  }
  return { lines, unread: [...unread.values()] };
}

function oldestFirst(lines: readonly LedgerLine[]): LedgerLine[] {
  const known = new Map(lines.map((line) => [`${line.receivedAt} ${line.deliveryId} ${line.outcome}`, line]));
  return [...known.values()].sort((a, b) =>
    a.receivedAt < b.receivedAt ? -1 : Number(a.receivedAt > b.receivedAt),
  );
}
