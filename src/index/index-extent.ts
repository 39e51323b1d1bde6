import type { IndexState } from './index-state.js';

/** What the index has, as every answer says it: all lines written from `since` to `until`, but for those of the missing segments. */
export interface IndexExtent {
  /** ISO 8601; null: from the beginning of the ledger on. */
  readonly since: string | null;
  /** ISO 8601; null while nothing was read yet. */
  readonly until: string | null;
  /** Segments that cannot be read: the first hundred, newest first. */
  readonly missing: readonly {
    /** Key of the first one. */
    readonly key: string;
    /** With consecutive numbers. */
    readonly segments: number;
    /** Lines that cannot be read of a segment that is there; null where it is missing. */
    readonly unreadable: number | null;
  }[];
}

export function extentOf({ since, until, missing }: IndexState): IndexExtent {
  return {
    since: since === null ? null : new Date(since).toISOString(),
    until: until === null ? null : new Date(until).toISOString(),
    missing: missing.map(({ key, segments, unreadable }) => ({ key, segments, unreadable })),
  };
}
