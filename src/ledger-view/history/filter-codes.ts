import type { LedgerLine } from '../../domain/delivery.js';
import { textHash } from '../../text/text-hash.js';
import type { RowSearch } from '../delivery-query.js';

/**
 * Numbers the combinations of values that lines have in the filters' fields: there are few of them, so that an index keeps
 * two bytes instead of five texts.
 */
export interface FilterCodes {
  code(line: LedgerLine): number;
  /** A test of lines by code and hash of the job. It may accept a line that does not match, never reject one that does. */
  test(search: Pick<RowSearch, 'filters' | 'lists'>): (code: number, job: number) => boolean;
}

/** Senders choose the status. Lines of combinations beyond this number have one code together, which every filter accepts. */
const MAX_CODES = 4096;
const FIELDS = ['source', 'region', 'status', 'outcome', 'origin'] as const;
const ORIGIN = FIELDS.indexOf('origin');

type Combination = readonly (string | null)[];

export function createFilterCodes(): FilterCodes {
  const codes = new Map<string, number>();
  const combinations: Combination[] = [];

  return {
    code(line) {
      const values = FIELDS.map((field) => (typeof line[field] === 'string' ? line[field] : null));
      const key = JSON.stringify(values);
      const known = codes.get(key);
      if (known !== undefined) return known;
      if (combinations.length >= MAX_CODES) return MAX_CODES;
      codes.set(key, combinations.length);
      return combinations.push(values) - 1;
    },
    test({ filters, lists }) {
      const wanted = FIELDS.flatMap((field, index) => {
        const value = filters[field];
        return value === undefined ? [] : [{ index, value }];
      });
      const job = filters.job === undefined ? null : jobHash(filters.job);
      const accepted: boolean[] = [];
      const accepts = (code: number): boolean => {
        if (code >= MAX_CODES) return true;
        const values = combinations[code] ?? [];
        accepted[code] ??=
          lists(values[ORIGIN] ?? '') && wanted.every(({ index, value }) => values[index] === value);
        return accepted[code];
      };
      return (code, hash) => (job === null || hash === job) && accepts(code);
    },
  };
}

/** The line itself is compared when it is read. */
export function jobHash(id: string | null): number {
  return textHash(id ?? '');
}
