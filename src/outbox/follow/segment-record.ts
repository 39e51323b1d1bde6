/** Which segments of an hour were read, in bounded space. */
export interface SegmentRecordDocument {
  /** Names of the newest segments that were read, ascending. */
  readonly recent: readonly string[];
  /** Older ones: the last name of each range of names, and how many of the range were read. */
  readonly counted: readonly (readonly [to: string, names: number])[];
  /** Last counted name of each replica. */
  readonly replicas: Readonly<Record<string, string>>;
}

export const EMPTY_RECORD: SegmentRecordDocument = { recent: [], counted: [], replicas: {} };

/** Names that may be unread, to be read all together: which one of them is new is not known when there are several. */
export interface UnreadNames {
  readonly names: readonly string[];
  /** Index of the range that holds them; null for a single name beyond all ranges. */
  readonly range: number | null;
}

/**
 * Which segments of an hour were read. The newest names are known exactly, older ones by number and range. So a late segment
 * among many is noticed by its range, whose segments are then read again. It can repeat a segment, and never loses one.
 */
export interface SegmentRecord {
  /** Whether a segment counts as read without comparing all names of the hour. */
  has(name: string): boolean;
  /** Adds a segment that was read for the first time. */
  add(name: string): void;
  /**
   * Compares all names of the hour, ascending. Names that were read must be among them, unless they were deleted.
   */
  unread(names: readonly string[]): UnreadNames[];
  /** The segments were read, as `unread` returned them. */
  settle(unread: UnreadNames): void;
  /**
   * Counts all names but the newest ones.
   *
   * @param keep number of names to keep
   * @param before only names before this one; those of segments that are being read must not be counted over
   */
  compress(keep: number, before?: string | null): void;
  /** Reduces a closed hour to a few numbers. */
  close(): void;
  isEmpty(): boolean;
  /** Number of names that are known. */
  names(): number;
  document(): SegmentRecordDocument;
}

const MAX_RANGES = 64;
const MAX_REPLICAS = 64;
/** Ranges of a closed hour: an hour that is never compacted stays in the state for a month. */
const CLOSED_RANGES = 4;
/** Names in a range before the ranges have to be merged. */
const RANGE = 16;

export function createSegmentRecord(given: SegmentRecordDocument = EMPTY_RECORD): SegmentRecord {
  const recent = new Set(given.recent);
  let counted = given.counted.map(([to, names]) => ({ to, names }));
  const replicas = new Map(Object.entries(given.replicas));

  const lastCounted = () => counted.at(-1)?.to ?? '';

  function remember(name: string): void {
    const replica = replicaOf(name);
    const last = replicas.get(replica);
    if (last !== undefined && last >= name) return;
    replicas.delete(replica);
    replicas.set(replica, name);
    if (replicas.size <= MAX_REPLICAS) return;
    // Of a replica that is forgotten, segments that are listed once more are sent once more.
    const [oldest] = [...replicas].reduce((a, b) => (b[1] < a[1] ? b : a));
    replicas.delete(oldest);
  }

  function count(name: string): void {
    const last = counted.at(-1);
    const size = Math.max(RANGE, ...counted.map(({ names }) => names));
    if (last !== undefined && last.names < size)
      counted[counted.length - 1] = { to: name, names: last.names + 1 };
    else counted.push({ to: name, names: 1 });
    remember(name);
    if (counted.length > MAX_RANGES) merge();
  }

  /** Joins each range with the next. */
  function merge(): void {
    counted = counted.flatMap((range, index) => {
      const next = counted[index + 1];
      if (index % 2 === 1) return [];
      return [next === undefined ? range : { to: next.to, names: range.names + next.names }];
    });
  }

  function addCounted(name: string): void {
    const range = counted.find(({ to }) => name <= to);
    if (range !== undefined) range.names += 1;
    remember(name);
  }

  return {
    has(name) {
      if (name > lastCounted()) return recent.has(name);
      const last = replicas.get(replicaOf(name));
      return last !== undefined && name <= last;
    },
    add(name) {
      if (name > lastCounted()) recent.add(name);
      else addCounted(name);
    },
    unread(names) {
      const groups: UnreadNames[] = [];
      let from = 0;
      for (const [range, { to, names: read }] of counted.entries()) {
        const end = firstAfter(names, to, from);
        // Fewer than were read: some were deleted, and a late one may be among the others.
        if (end - from !== read && end > from) groups.push({ names: names.slice(from, end), range });
        from = end;
      }
      for (const name of names.slice(from)) {
        if (!recent.has(name)) groups.push({ names: [name], range: null });
      }
      return groups;
    },
    settle({ names, range }) {
      const known = range === null ? undefined : counted[range];
      if (known !== undefined) {
        known.names = names.length;
        for (const name of names) remember(name);
      } else for (const name of names) recent.add(name);
    },
    compress(keep, before = null) {
      if (recent.size <= keep) return;
      const names = [...recent].sort();
      for (const name of names.slice(0, names.length - keep)) {
        if (before !== null && name >= before) return;
        recent.delete(name);
        count(name);
      }
    },
    close() {
      this.compress(0);
      while (counted.length > CLOSED_RANGES) merge();
      replicas.clear();
    },
    isEmpty: () => recent.size === 0 && counted.every(({ names }) => names === 0),
    names: () => recent.size,
    document: () => ({
      recent: [...recent].sort(),
      counted: counted.map(({ to, names }) => [to, names] as const),
      replicas: Object.fromEntries(replicas),
    }),
  };
}

/** Segments are named `<ULID>-<replica>`. */
function replicaOf(name: string): string {
  return name.slice(27);
}

/** Index of the first name after `bound`, from `start` on. */
function firstAfter(names: readonly string[], bound: string, start: number): number {
  let index = start;
  while (index < names.length && (names[index] ?? '') <= bound) index += 1;
  return index;
}
