import { type ListedObject, type ObjectStore, PartialListingError } from '../store/object-store.js';
import { HOUR, startOfHour, WHOLE_AFTER } from './hours.js';
import { LEDGER_FOLDER } from './ledger-keys.js';
import { folderOfWriter, parseSegmentKey, type SegmentPlace, segmentKey } from './segment-key.js';

export interface ListedSegment extends SegmentPlace {
  readonly key: string;
  readonly size: number;
  /**
   * The store's time of the segment, in milliseconds since the epoch, which orders its lines in the ledger. A time outside of its
   * hour, as after a write that was answered late or in a copied bucket, is replaced by the nearest time within the hour.
   */
  readonly writtenAt: number;
  /** Whether the segment was written after its hour was whole. */
  readonly isLate?: boolean;
}

/** The last number that was read, for each writer of an hour. No lower number appears later. */
export type SegmentPosition = ReadonlyMap<string, number>;

/** Listed segments in a row that were read before; beyond them a new listing starts after the last one that was read. */
const MAX_SKIPPED = 100;

/**
 * Lists the segments of an hour after a position, ordered by writer and number. A writer with many segments costs one more call, however
 * many they are. Throws `StoreError`, and `PartialListingError` when the listing lacks every segment of a writer that was read before.
 *
 * @param root the folder of the ledger, or of what was sent to a subscriber
 * @param position default: before all segments
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
    let skipped = 0;
    for await (const listed of listing) {
      const place = parseSegmentKey(listed.key);
      if (place === null) continue;
      unlisted.delete(place.writer);
      const lastRead = position.get(place.writer) ?? 0;
      if (place.number > lastRead) {
        skipped = 0;
        yield {
          ...place,
          key: listed.key,
          size: listed.size,
          writtenAt: writtenAt(listed),
          isLate: isLate(listed),
        };
        continue;
      }
      skipped += 1;
      if (skipped < MAX_SKIPPED || place.number === lastRead) continue;
      startAfter = segmentKey({ ...place, number: lastRead });
      break;
    }
  }
  const [writer] = unlisted;
  if (writer !== undefined) await assertGone(store, { hour, writer, number: position.get(writer) ?? 0 });
}

/** Throws unless a segment that was read before, and is not listed now, was deleted: otherwise the listing is incomplete. */
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
