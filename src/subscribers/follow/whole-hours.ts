import { HOUR, startOfHour } from '../../ledger/hours.js';
import { LEDGER_FOLDER, ROLLUPS_FOLDER } from '../../ledger/ledger-keys.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { newSegmentsOf } from '../../ledger/log/new-segments.js';
import { type CompactedHours, createCompactedHours } from '../../ledger/read/log/compacted-hours.js';
import type { LogEntry } from '../../ledger/read/log/log-entry.js';
import { EVERYTHING } from '../../ledger/read/log/log-filter.js';
import { beforeInstant, comparePositions, type LogPosition } from '../../ledger/read/log/log-position.js';
import { scanLog } from '../../ledger/read/log/scan-log.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber } from './lines-by-number.js';
import { type LogPlace, numbersOf } from './log-place.js';

export interface LogReading {
  readonly store: ObjectStore;
  readonly place: LogPlace;
  /** Called with what keeps lines from being read; all others are. */
  readonly onFault: (hour: string, error: Error) => void;
}

/** With what is known of the files of the hour in hand. */
interface FileReading extends LogReading {
  readonly compacted: CompactedHours;
}

type Lines = AsyncGenerator<readonly LogEntry[]>;

/** Lines that are brought at once. */
const CHUNK = 200;

/** What was not read of the hours before an instant: by number what was begun so or has no files, otherwise by the files. */
export async function* readWholeHours(reading: LogReading, end: number): Lines {
  const { store, place } = reading;
  if (place.before.written >= end) return;
  for await (const hour of hoursInOrder(store, 'oldest', place.before.written, end - 1)) {
    const compacted = createCompactedHours(store);
    const isByNumber = place.hours.has(hour) || (await compacted.of(hour)).files === null;
    yield* isByNumber ? readByNumber(reading, hour) : readFiles({ ...reading, compacted }, hour);
    pass(place, startOfHour(hour) + HOUR);
  }
  pass(place, end);
}

function pass(place: LogPlace, time: number): void {
  place.before = beforeInstant(time);
  for (const hour of place.hours.keys()) if (startOfHour(hour) < time) place.hours.delete(hour);
}

async function* readByNumber({ store, place, onFault }: LogReading, hour: string): Lines {
  const { read } = numbersOf(place, hour);
  const onMissing = () => readLater(place, hour);
  const isAll = yield* linesByNumber(place, newSegmentsOf(store, { hour, read }, onMissing));
  // Asked for afterwards: the hour can be compacted and its segments deleted while their lines wait to be sent.
  const { files, faults } = await createCompactedHours(store).of(hour);
  const damage = files === null ? faults : [];
  for (const { message } of damage) onFault(hour, new Error(message));
  const isRead = (files ?? []).every(({ covers }) =>
    Object.entries(covers).every(([writer, ranges]) => (ranges.at(-1)?.[1] ?? 0) <= (read.get(writer) ?? 0)),
  );
  if (!isAll || !isRead || damage.length > 0) readLater(place, hour);
}

async function* readFiles(reading: FileReading, hour: string): Lines {
  const { place } = reading;
  const onDamage = () => readLater(place, hour, place.before);
  for await (const entries of linesBehind(reading, hour, place.before, onDamage)) {
    yield entries;
    place.before = lastOf(entries);
  }
}

/** @param from default: from its beginning */
export function readLater({ again }: LogPlace, hour: string, from = beforeInstant(startOfHour(hour))): void {
  again.set(hour, again.get(hour) ?? from);
}

/** Hours that could not be read wholly, up to where they still cannot: what is behind was read before. */
export async function* readAgain(reading: LogReading): Lines {
  const { again } = reading.place;
  for (const [hour, from] of again) {
    let isDamaged = false;
    const onDamage = () => {
      isDamaged = true;
    };
    const compacted = createCompactedHours(reading.store);
    for await (const entries of linesBehind({ ...reading, compacted }, hour, from, onDamage)) {
      if (isDamaged) break;
      yield entries;
      again.set(hour, lastOf(entries));
    }
    if (!isDamaged) again.delete(hour);
  }
}

/** The lines of an hour behind a position. `onDamage` is called before those that follow what cannot be read now, and perhaps later. */
async function* linesBehind(
  { store, compacted, onFault }: FileReading,
  hour: string,
  from: LogPosition,
  onDamage: () => void,
): AsyncGenerator<LogEntry[]> {
  const start = startOfHour(hour);
  const { files } = await compacted.of(hour);
  const steps = scanLog(store, compacted, {
    range: { order: 'oldest', since: Math.max(start, from.written), before: beforeInstant(start + HOUR) },
    filter: EVERYTHING,
    onFault(text, key) {
      onFault(hour, new Error(text));
      // Lost segments do not come back, nor do lines that were damaged when their hour was compacted.
      if (!key.startsWith(files === null ? LEDGER_FOLDER : ROLLUPS_FOLDER)) onDamage();
    },
    onSkipped(_key, { newer }) {
      if (newer > 0) onDamage();
    },
  });
  for await (const step of steps) {
    const entries = step.entries.filter((entry) => comparePositions(entry, from) > 0);
    for (let first = 0; first < entries.length; first += CHUNK) yield entries.slice(first, first + CHUNK);
  }
}

function lastOf(entries: readonly LogEntry[]): LogPosition {
  const { written, id, outcome } = entries.at(-1) as LogEntry;
  return { written, id, outcome };
}
