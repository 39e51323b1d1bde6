import { ACCESS_ORIGIN, type LedgerLine } from '../../../domain/delivery.js';
import { extentStart, type IndexExtent, withUnread } from '../../../index/index-extent.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { PlacedLine, UnreadLines } from '../../../ledger/log/read-lines-at.js';
import { scanLines } from '../../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../../store/object-store.js';

/** Ledger lines of a job. */
export interface JobLines {
  /** Oldest first. */
  readonly lines: readonly LedgerLine[];
  /** Places of the lines that are in the index. */
  readonly places: ReadonlyMap<LedgerLine, PlacedLine>;
  /** Whether the index has further, older lines of the job. */
  readonly isCut: boolean;
  /**
   * Extent of the index, minus parts that could not be read. Before it, only lines written around the times at which something of the job
   * was stored are included.
   */
  readonly index: IndexExtent;
}

/**
 * Lines of a job, and separately accesses to its content, because an open page causes hundreds that must not displace other lines. More lines
 * are rare, such as of a callback repeated for days, and `GET deliveries` lists them.
 */
const MAX_LINES = 500;
const MINUTE = 60_000;
/** Range around the storing of an object in which its line was probably written. */
const LINE_WITHIN = { before: MINUTE, after: 5 * MINUTE };
const MAX_RANGES = 24;

/**
 * Rejects with `StoreError` and `IndexError`.
 *
 * @param storedAt times at which something of the job was stored, in milliseconds since the epoch; the log is read there before the index
 */
export async function readJobLines(
  store: ObjectStore,
  view: Pick<LedgerView, 'extentNow' | 'search'>,
  jobId: string,
  storedAt: readonly number[],
): Promise<JobLines> {
  const query = { job: jobId, limit: MAX_LINES };
  const index = await view.extentNow();
  const [others, accesses] = await Promise.all([
    view.search({ ...query, without: 'accesses' }),
    view.search({ ...query, origin: ACCESS_ORIGIN }),
  ]);
  const older = await linesBefore(store, jobId, extentStart(index), storedAt);
  const found = [...accesses.entries, ...others.entries].map(({ line }) => line);
  return {
    lines: oldestFirst([...older.lines, ...found]),
    places: new Map(others.entries.map(({ line, place }) => [line, place])),
    isCut: others.nextCursor !== null || accesses.nextCursor !== null,
    index: withUnread(index, [...others.unread, ...accesses.unread, ...older.unread]),
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
  const old = [...minutes].filter((time) => time - LINE_WITHIN.before < begin).sort((a, b) => a - b);
  for (const time of old.slice(0, MAX_RANGES)) {
    const scan = scanLines({
      store,
      since: time - LINE_WITHIN.before,
      until: Math.min(time + MINUTE + LINE_WITHIN.after, begin),
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
