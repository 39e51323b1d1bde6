import type { LedgerLine } from '../../../domain/delivery.js';
import { type ContextFilter, matchesContext } from '../../context-filter.js';
import { OTHER } from '../../rollup/rollup.js';
import { beforeInstant, comparePositions, type LogOrder, type LogPosition } from './log-position.js';

/** The fields of a line that filters look at. */
export interface FilterFields {
  readonly job: string | null;
  readonly source: string | null;
  readonly region: string | null;
  readonly status: string | null;
  readonly outcome: string;
  readonly origin: string;
}

const FILTER_NAMES = ['job', 'source', 'region', 'status', 'outcome', 'origin'] as const;

/** Which lines are wanted. */
export interface LogFilter {
  /** Values that a line must have. A job is found without reading the lines of others. */
  readonly wanted: Readonly<Partial<Record<(typeof FILTER_NAMES)[number], string>>>;
  readonly context: ContextFilter | null;
  /** Which origins are wanted. */
  readonly lists: (origin: string) => boolean;
  /** Whether a line exists for the client. */
  readonly exists: (line: Pick<FilterFields, 'job' | 'source'>) => boolean;
}

/** The lines written since an instant and before a position. */
export interface LogRange {
  readonly order: LogOrder;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly before: LogPosition;
}

/** The first instant whose lines are all at or after a position. */
export function endOf({ before }: LogRange): number {
  return comparePositions(before, beforeInstant(before.written)) === 0 ? before.written : before.written + 1;
}

export const EVERYTHING: LogFilter = {
  wanted: {},
  context: null,
  lists: () => true,
  exists: () => true,
};

/** Whether the fields match; the context is not among them. */
export function matchesFields({ wanted, lists, exists }: LogFilter, fields: FilterFields): boolean {
  for (const name of FILTER_NAMES) {
    const value = wanted[name];
    if (value !== undefined && fields[name] !== value) return false;
  }
  return lists(fields.origin) && exists(fields);
}

export function matchesLine(filter: LogFilter, line: LedgerLine): boolean {
  const { context } = filter;
  if (!matchesFields(filter, { ...line, job: line.jobId })) return false;
  return context === null || matchesContext(context, line);
}

/** The values that the lines of a file have together; null where they are not known. */
export type FieldGroups =
  | readonly Pick<FilterFields, 'source' | 'region' | 'status' | 'outcome' | 'origin'>[]
  | null;

/** Whether a file may have lines that match. */
export function mayMatch({ wanted, lists }: LogFilter, groups: FieldGroups): boolean {
  if (groups === null) return true;
  const isPossible = (value: string | null, name: Exclude<(typeof FILTER_NAMES)[number], 'job'>) =>
    wanted[name] === undefined || value === wanted[name] || value === OTHER;
  return groups.some(
    (group) =>
      (group.origin === OTHER || lists(group.origin)) &&
      isPossible(group.source, 'source') &&
      isPossible(group.region, 'region') &&
      isPossible(group.status, 'status') &&
      isPossible(group.outcome, 'outcome') &&
      isPossible(group.origin, 'origin'),
  );
}
