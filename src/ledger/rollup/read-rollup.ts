import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { type RunWork, runAtOnce } from '../../time/work-queue.js';
import { DAILY_ROLLUPS_FOLDER } from '../ledger-keys.js';
import { parseDailyCovers, parseDailyFigures, parseDailyRollup } from './parse-rollup.js';
import type { DailyCovers, DailyFigures, DailyRollup, Rollup } from './rollup.js';
import { decodeRollup } from './rollup-document.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** Bytes that hold the half days of some twenty sources, and of a hundred. */
const DAILY_HEAD = [32 * 1024, 256 * 1024];

/** The beginning of a document, which JSON can be made of. */
interface Head<Part> {
  /** Lengths of the range that is read: the next one where the beginning is longer. */
  readonly bytes: readonly number[];
  /** The last place of this is where the beginning ends. */
  readonly before: string;
  /** What follows instead. */
  readonly end: string;
  /** Null where the beginning does not hold what is needed. */
  readonly parse: (value: unknown) => Part | null;
}

const DAILY_FIGURES: Head<DailyFigures> = {
  ...{ bytes: DAILY_HEAD, before: ',"noteworthy":[', end: '}', parse: parseDailyFigures },
};
const DAILY_COVERS: Head<DailyCovers> = {
  ...{ bytes: DAILY_HEAD, before: ',"slots":[', end: '}', parse: parseDailyCovers },
};

/**
 * Null when the rollup is missing, damaged, of another version, or of another file than its key says. Throws
 * `StoreError`; so do all of these.
 */
export async function readRollup(store: ObjectStore, key: string, run = runAtOnce): Promise<Rollup | null> {
  const read = await readBytes(store, key);
  return read && run(() => decodeRollup(key, read.bytes));
}

export async function readDailyRollup(
  store: ObjectStore,
  key: string,
  run = runAtOnce,
): Promise<DailyRollup | null> {
  return ownDaily(key, await readDocument(store, key, parseDailyRollup, run));
}

/** Reads only the half days of a large daily rollup. */
export async function readDailyFigures(store: ObjectStore, key: string, run = runAtOnce) {
  return ownDaily(key, await readHead(store, key, DAILY_FIGURES, parseDailyRollup, run));
}

/** Reads the beginning of a large daily rollup, which says what it covers. */
export async function readDailyCovers(store: ObjectStore, key: string, run = runAtOnce) {
  return ownDaily(key, await readHead(store, key, DAILY_COVERS, parseDailyRollup, run));
}

function ownDaily<Part extends { readonly day: string }>(key: string, daily: Part | null): Part | null {
  return daily !== null && key.startsWith(`${DAILY_ROLLUPS_FOLDER}dt=${daily.day}/`) ? daily : null;
}

async function readHead<Part, Whole>(
  store: ObjectStore,
  key: string,
  head: Head<Part>,
  parseWhole: (value: unknown) => Whole | null,
  run: RunWork,
): Promise<Part | Whole | null> {
  for (const length of head.bytes) {
    const read = await readBytes(store, key, length);
    if (read === null) return null;
    const { bytes, size } = read;
    if (size <= length) return run(() => parseWhole(parseJson(bytes.toString())));
    const end = bytes.lastIndexOf(head.before);
    if (end < 0) continue;
    const part = await run(() => head.parse(parseJson(bytes.toString('utf8', 0, end) + head.end)));
    if (part !== null) return part;
    break;
  }
  return readDocument(store, key, parseWhole, run);
}

async function readDocument<Whole>(
  store: ObjectStore,
  key: string,
  parse: (value: unknown) => Whole | null,
  run: RunWork,
): Promise<Whole | null> {
  const read = await readBytes(store, key);
  return read && run(() => parse(parseJson(read.bytes.toString())));
}

/** Null when the document is missing, or larger than any rollup. */
async function readBytes(store: ObjectStore, key: string, length?: number) {
  const reading = await store.read(key, length === undefined ? undefined : { start: 0, end: length - 1 });
  if (reading === null) return null;
  const { info, body } = reading;
  if (length === undefined && info.size > MAX_BYTES) {
    body.destroy();
    return null;
  }
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
  return { bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), size: info.size };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
