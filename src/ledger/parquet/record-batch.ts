import type { ColumnSource } from 'hyparquet-writer';
import type { LedgerColumn, LedgerRecord } from './ledger-columns.js';

/** The rows of a row group by column. Keeps bytes and numbers, no objects per row: those would outlive many collections. */
export interface RecordBatch {
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly writtenAt: readonly number[];
  add(record: LedgerRecord): void;
  column(name: LedgerColumn): ColumnSource;
}

/** Texts that hardly repeat: a dictionary would cost a buffer for each text and save nothing. */
const DISTINCT = ['deliveryId', 'jobId', 'clientIp', 'context', 'shape', 'extra', 'raw'] as const;
const REPEATED = [
  'origin',
  'source',
  'region',
  'status',
  'outcome',
  'credential',
  'method',
  'reason',
  'actor',
  'wouldRefuse',
  'contextOmitted',
] as const;
const NUMBERS = ['writtenAt', 'receivedAt', 'bytes', 'durationMs', 'v'] as const;
const ITEM_TEXTS = ['kind', 'key', 'sha256', 'outcome'] as const;

export function createRecordBatch(): RecordBatch {
  const distinct = byName(DISTINCT, createTexts);
  const repeated = byName(REPEATED, () => [] as (string | null)[]);
  const numbers = byName(NUMBERS, () => [] as number[]);
  const itemTexts = byName(ITEM_TEXTS, createTexts);
  const itemSizes: number[] = [];
  const itemCounts: number[] = [];
  const names = new Map<string, string>();
  /** The first of equal texts, so that the others can be collected. */
  const intern = (name: string) => {
    const known = names.get(name);
    if (known === undefined) names.set(name, name);
    return known ?? name;
  };

  function items(): unknown[][] {
    const texts = byName(ITEM_TEXTS, (name) => itemTexts[name].values());
    let next = 0;
    return itemCounts.map((count) =>
      Array.from({ length: count }, () => {
        const at = next++;
        const { kind, key, sha256, outcome } = texts;
        const size = BigInt(itemSizes[at] ?? 0);
        return { kind: kind[at], key: key[at], size, sha256: sha256[at], outcome: outcome[at] };
      }),
    );
  }

  return {
    get rows() {
      return itemCounts.length;
    },
    writtenAt: numbers.writtenAt,
    add(record) {
      for (const name of DISTINCT) distinct[name].add(record[name]);
      for (const name of REPEATED) {
        const value = record[name];
        repeated[name].push(value === null ? null : intern(value));
      }
      for (const name of NUMBERS) numbers[name].push(record[name]);
      for (const item of record.items) {
        for (const name of ITEM_TEXTS) itemTexts[name].add(item[name]);
        itemSizes.push(item.size);
      }
      itemCounts.push(record.items.length);
    },
    column(name) {
      const statistics = name === 'writtenAt' || name === 'receivedAt';
      const options = { name, statistics, bloomFilter: name === 'jobId' };
      if (name === 'items') return { ...options, encoding: 'PLAIN', data: items() };
      if (name === 'bytes') return { ...options, data: numbers.bytes.map(BigInt) };
      if (isOneOf(DISTINCT, name)) return { ...options, encoding: 'PLAIN', data: distinct[name].values() };
      return { ...options, data: isOneOf(REPEATED, name) ? repeated[name] : numbers[name] };
    },
  };
}

function byName<Name extends string, Value>(names: readonly Name[], create: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, create(name)])) as Record<Name, Value>;
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

/** Bytes of UTF-8 per UTF-16 code unit. */
const MAX_UTF8 = 3;

/** Texts as UTF-8, one after the other. */
function createTexts() {
  let bytes = Buffer.allocUnsafeSlow(16 * 1024);
  let end = 0;
  /** Where each text ends; negative for null. */
  const ends: number[] = [];
  return {
    add(text: string | null): void {
      if (text === null) {
        ends.push(-1);
        return;
      }
      const most = end + text.length * MAX_UTF8;
      if (most > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(most, bytes.length * 2));
        bytes.copy(larger, 0, 0, end);
        bytes = larger;
      }
      end += bytes.write(text, end);
      ends.push(end);
    },
    values(): (Buffer | null)[] {
      let start = 0;
      return ends.map((textEnd) => {
        if (textEnd < 0) return null;
        const text = bytes.subarray(start, textEnd);
        start = textEnd;
        return text;
      });
    },
  };
}
