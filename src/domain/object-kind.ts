import { type ItemKind, KINDS } from './kinds.js';

/**
 * Kinds of objects with content of jobs, which retention, storage classes and object tags distinguish. The three forms of
 * a transcript are one kind; media is `data`.
 */
export const CONTENT_KINDS = ['transcript', 'jobinfo', 'data', 'attachment', 'quarantine'] as const;
export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Kinds of the receiver's own records, which belong to no single source. */
export const RECORD_KINDS = ['ledger', 'reports', 'replays'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export const OBJECT_KINDS = [...CONTENT_KINDS, ...RECORD_KINDS] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** A conflict has the kind of the item that it differs from. */
export function contentKind(kind: ItemKind): ContentKind {
  return KINDS[kind].retention;
}
