import { decodeTime, encodeTime } from 'ulid';
import { isUlid } from '../lib/text/id-cursor.js';
import type { ObjectStore } from './object-store.js';

/** Keys of one answer. S3 puts up to 1,000 into one, but a page shows fifty. */
const PAGE = 250;
/** Milliseconds of the first stretch. */
const FIRST_SPAN = 600_000;
/** Milliseconds by which the clock of a replica may be ahead. */
const AHEAD = 600_000;
/** Length of the time in a ULID, which has milliseconds. */
const TIME_LENGTH = 10;
/** Milliseconds after which a further id is found in a large folder: of files each answer takes a reading of all names. */
const NEWEST_FOR = 2000;
const END = '.json';

export interface NewestOptions {
  /** Only ids that come before this one. Default: all. */
  readonly before?: string | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for which the newest ids of a large folder are good. Default 2,000. */
  readonly maxAge?: number | undefined;
}

/**
 * Ids of the documents `<ULID>.json` in a folder, newest first. A store lists in ascending order only, so stretches of time are listed, whose
 * length is searched: one that holds more than one answer is tried again shorter. So a page of the newest costs a few calls, however many
 * there are, and the memory of one answer; only what was written within one millisecond is never divided.
 *
 * @param folder ends in `/`
 */
export async function* newestIds(
  store: Pick<ObjectStore, 'keys'>,
  folder: string,
  options: NewestOptions = {},
): AsyncGenerator<string> {
  const { before = '~' } = options;
  for await (const keys of newestStretches(store, folder, options)) {
    const ids = keys.map((key) => key.slice(folder.length, -END.length));
    yield* ids.filter((id, at) => id < before && isUlid(id) && keys[at]?.endsWith(END)).reverse();
  }
}

/** A document was added here: the next search of the folder finds it. */
export function forgetNewest(store: object, folder: string): void {
  const hint = hintsOf(store).get(folder);
  if (hint !== undefined) hintsOf(store).set(folder, { oldest: hint.oldest, span: hint.span });
}

async function* newestStretches(
  store: Pick<ObjectStore, 'keys'>,
  folder: string,
  { before = '~', signal, maxAge = NEWEST_FOR }: NewestOptions,
): AsyncGenerator<readonly string[]> {
  const hints = hintsOf(store);
  let known = hints.get(folder);
  let hint: Hint | undefined = known;
  if (hint === undefined) {
    const first = await stretch(store, folder, { startAfter: folder, limit: PAGE, signal });
    if (first.length < PAGE) return yield first;
    hint = { oldest: timeOf(first[0], folder) ?? 0, span: FIRST_SPAN };
  }
  let newest = isUlid(before) ? null : newestOf(hint, maxAge);
  if (newest !== null && newest.keys.length > 0) yield newest.keys;
  const search = new StretchSearch(hint, newest === null ? decodeTime(before) + 1 : newest.from);
  while (!search.isOver()) {
    const { from, until, limit } = search.next();
    const startAfter = from === search.oldest ? folder : placeOf(folder, from);
    const found = await stretch(store, folder, { startAfter, end: until, limit, signal });
    if (found.length === limit) {
      search.tooMany(timeOf(found[0], folder), timeOf(found.at(-1), folder));
      continue;
    }
    search.found(found.length);
    // What was forgotten meanwhile stays so.
    if (newest !== null && newest.keys.length < PAGE && found.length > 0 && hints.get(folder) === known) {
      // How dense the newest are; those before may be otherwise.
      const density: Hint = newest.keys.length === 0 ? search.hint() : hint;
      newest = { ...newest, from, keys: [...found, ...newest.keys] };
      hint = known = { ...density, newest };
      hints.set(folder, hint);
    }
    yield found;
  }
}

/** The newest keys as an earlier search found them, or none where that is too long ago. */
function newestOf({ newest }: Hint, maxAge: number): Newest {
  const now = performance.now();
  return newest !== undefined && now - newest.at < maxAge ? newest : { at: now, from: null, keys: [] };
}

/** Where a folder begins that one answer does not hold, and how long a stretch of it is. A wrong hint costs calls, nothing else. */
interface Hint {
  readonly oldest: number;
  readonly span: number;
  readonly newest?: Newest;
}

/** The newest keys: those of ids from a time on, as they were listed at `at` or later. */
interface Newest {
  readonly at: number;
  readonly from: number | null;
  readonly keys: readonly string[];
}

const KNOWN = new WeakMap<object, Map<string, Hint>>();

function hintsOf(store: object): Map<string, Hint> {
  const hints = KNOWN.get(store) ?? new Map<string, Hint>();
  KNOWN.set(store, hints);
  return hints;
}

/** Chooses stretches of time, from the end on: by how dense the objects were, and where that misleads by halves. */
class StretchSearch {
  readonly oldest: number;
  /** What is behind has been found; null is without end. */
  #end: number | null;
  #from = 0;
  #span: number;
  /** From here on there were too many for one answer; null where nothing is known. */
  #many: number | null = null;
  #isGuess = true;

  constructor({ oldest, span }: Hint, end: number | null) {
    this.oldest = oldest;
    this.#span = span;
    this.#end = end;
  }

  hint(): Hint {
    return { oldest: this.oldest, span: this.#span };
  }

  isOver(): boolean {
    return this.#end !== null && this.#end <= this.oldest;
  }

  next(): { readonly from: number; readonly until: number | null; readonly limit: number } {
    const top = this.#top();
    this.#from = Math.max(this.#nextFrom(top), this.oldest);
    return {
      from: this.#from,
      until: this.#end,
      limit: top - this.#from > 1 ? PAGE : Number.POSITIVE_INFINITY,
    };
  }

  #top(): number {
    return this.#end ?? Math.max(Date.now() + AHEAD, (this.#many ?? 0) + 1);
  }

  #nextFrom(top: number): number {
    const guess = (this.#end ?? Date.now()) - this.#span;
    if (this.#many === null) return guess;
    return this.#isGuess && guess > this.#many ? guess : Math.floor((this.#many + top) / 2);
  }

  /** @param first the time of the first object of the answer, as `last` of its last one; null for one that is named otherwise */
  tooMany(first: number | null, last: number | null): void {
    const [from, to] = [first ?? this.#from, last ?? this.#from];
    this.#many = Math.max(from, this.#from);
    // As dense as at its beginning the stretch would be half an answer.
    this.#span = Math.max(1, Math.floor((to - from) / 2));
  }

  found(objects: number): void {
    const end = this.#from;
    this.#end = end;
    this.#isGuess = objects > 0;
    if (objects > 0 || (this.#many !== null && this.#many >= end)) this.#many = null;
    if (this.#many === null)
      this.#span = Math.floor(this.#span * Math.min(16, PAGE / 2 / Math.max(objects, 1))) || 1;
  }
}

interface Stretch {
  readonly startAfter: string;
  /** Milliseconds since the epoch; null is without end. */
  readonly end?: number | null;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

async function stretch(
  store: Pick<ObjectStore, 'keys'>,
  folder: string,
  { startAfter, end = null, limit, signal }: Stretch,
): Promise<string[]> {
  const found: string[] = [];
  const range = { startAfter, signal, direct: true, ...(Number.isFinite(limit) ? { limit } : {}) };
  for await (const key of store.keys(folder, range)) {
    if (end !== null && key >= placeOf(folder, end)) break;
    found.push(key);
  }
  return found;
}

/** Where the ids of a time begin. */
function placeOf(folder: string, time: number): string {
  return folder + encodeTime(time, TIME_LENGTH);
}

function timeOf(key: string | undefined, folder: string): number | null {
  const id = key?.slice(folder.length, folder.length + 26) ?? '';
  return isUlid(id) ? decodeTime(id) : null;
}
