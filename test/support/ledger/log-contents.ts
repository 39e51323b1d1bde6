import { LEDGER_FOLDER, mergedFolder } from '../../../src/ledger/ledger-keys.js';
import type { LostSegments } from '../../../src/ledger/log/covered-numbers.js';
import { hourPosition } from '../../../src/ledger/log/hour-position.js';
import { hoursInOrder } from '../../../src/ledger/log/log-hours.js';
import { segmentsOfHour } from '../../../src/ledger/log/segments-of-hour.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../../src/store/object-store.js';

/** A segment as the log returns it. */
interface LogContent {
  readonly key: string;
  readonly writtenAt: number;
  readonly content: string | null;
}

export interface LogContents {
  /** By their keys. */
  readonly segments: readonly LogContent[];
  /** Keys of the numbers that are lost. */
  readonly lost: readonly string[];
  readonly faults: readonly string[];
}

/** All of a log whose hours are whole. @param folders of segments */
export async function contentsOfLog(store: ObjectStore, folders = [LEDGER_FOLDER]): Promise<LogContents> {
  const segments: LogContent[] = [];
  const lost: string[] = [];
  const faults: string[] = [];
  const first = Number.NEGATIVE_INFINITY;
  const end = Number.POSITIVE_INFINITY;
  const roots = folders.flatMap((folder) => [folder, mergedFolder(folder)]);
  for await (const hour of hoursInOrder(store, 'oldest', first, end, roots)) {
    const reading = {
      store,
      folders,
      onLost({ hour: lostIn, writer, from, to }: LostSegments) {
        for (let number = from; number <= to; number += 1)
          lost.push(segmentKey({ hour: lostIn, writer, number }));
      },
      onFault: ({ message }: Error) => void faults.push(message),
    };
    for await (const { writer, number, segment } of segmentsOfHour(reading, hourPosition(hour))) {
      const { content, writtenAt } = segment;
      segments.push({
        key: segmentKey({ hour, writer, number }),
        writtenAt,
        content: content?.toString('latin1') ?? null,
      });
    }
  }
  const inOrder = segments.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return { segments: inOrder, lost: lost.sort(), faults };
}
