import { type ListedObject, type ObjectStore, PartialListingError } from '../store/object-store.js';
import { HOUR, startOfHour, WHOLE_AFTER } from './hours.js';
import { LEDGER_FOLDER } from './ledger-keys.js';
import { folderOfWriter, parseSegmentKey, type SegmentPlace, segmentKey } from './segment-key.js';

export interface ListedSegment extends SegmentPlace {
  readonly key: string;
  readonly size: number;
  /**
   * The store's time of the segment, in milliseconds since the epoch: where its lines are in the order of the ledger. A time
   * outside of its hour, as of a write that was answered late or of a bucket that was copied, counts as the nearest within.
   */
  readonly writtenAt: number;
  /** The store's time of it is after nothing should appear in its hour any more. */
  readonly isLate?: boolean;
}

/** The last number that was read of each writer of an hour. Nothing ever appears behind it. */
export type SegmentPosition = ReadonlyMap<string, number>;

/** Segments in a row that are read over before a new listing starts behind them. */
const READ_OVER = 100;

/**
 * The segments of an hour behind a position, in the order of writers and numbers. Takes a call for each writer that has written many,
 * however many these are. Throws `StoreError`, and `PartialListingError` where all of a writer is left out that was read before.
 *
 * @param root the folder of the ledger, or of what was sent to a subscriber
 * @param position default: before all
 */
export async function* listSegments(
  store: ObjectStore,
  hour: string,
  root = LEDGER_FOLDER,
  position: SegmentPosition = new Map(),
): AsyncGenerator<ListedSegment> {
  const folder = root + hour;
  const unlisted = new Set([...position.keys()].filter((writer) => folderOfWriter(writer) === root));
  for (let startAfter: string | null = ''; startAfter !== null; ) {
    const listing: AsyncIterable<ListedObject> = store.list(
      folder,
      startAfter === '' ? undefined : { startAfter },
    );
    startAfter = null;
    let passed = 0;
    for await (const listed of listing) {
      const place = parseSegmentKey(listed.key);
      if (place === null) continue;
      unlisted.delete(place.writer);
      const read = position.get(place.writer) ?? 0;
      if (place.number > read) {
        passed = 0;
        yield {
          ...place,
          key: listed.key,
          size: listed.size,
          writtenAt: writtenAt(listed),
          isLate: isLate(listed),
        };
        continue;
      }
      passed += 1;
      if (passed < READ_OVER || place.number === read) continue;
      startAfter = segmentKey({ ...place, number: read });
      break;
    }
  }
  const [writer] = unlisted;
  if (writer !== undefined) await assertGone(store, { hour, writer, number: position.get(writer) ?? 0 });
}

/** A segment that was read and is listed no more was deleted: else the listing is not whole. */
async function assertGone(store: ObjectStore, place: SegmentPlace): Promise<void> {
  const key = segmentKey(place);
  if (place.number > 0 && (await store.head(key)) !== null)
    throw new PartialListingError(folderOfWriter(place.writer) + place.hour, key);
}

function isLate({ key, modifiedAt }: ListedObject): boolean {
  return modifiedAt.getTime() > startOfHour(key) + HOUR + WHOLE_AFTER;
}

export function writtenAt({ key, modifiedAt }: Pick<ListedObject, 'key' | 'modifiedAt'>): number {
  const start = startOfHour(key);
  return Math.min(Math.max(modifiedAt.getTime(), start), start + HOUR - 1);
}
