import { type ItemKind, KINDS } from './kinds.js';

/**
 * Kinds of objects with content of jobs, which retention, storage classes and object tags distinguish. The three forms of
 * a transcript are one kind; media is `data`.
 */
export const CONTENT_CLASSES = ['transcript', 'jobinfo', 'data', 'attachment', 'quarantine'] as const;
export type ContentClass = (typeof CONTENT_CLASSES)[number];

/** Kinds of the receiver's own records, which belong to no single source. */
export const RECORD_CLASSES = ['ledger', 'reports', 'replays'] as const;
export type RecordClass = (typeof RECORD_CLASSES)[number];

export const RETENTION_CLASSES = [...CONTENT_CLASSES, ...RECORD_CLASSES] as const;
export type RetentionClass = (typeof RETENTION_CLASSES)[number];

/**
 * A conflict has the kind of the item that it differs from. Lines of the ledger may name kinds that this version does not know:
 * they count as attachments.
 */
export function retentionClassOf(kind: ItemKind): ContentClass {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind].retention : 'attachment';
}
