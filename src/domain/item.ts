import type { ItemKind } from './kinds.js';

/** The content of a delivery, and its outcome in the archive. */

/** Where the bytes of an artefact came from. */
export const ORIGINS = ['callback', 'recovery', 'replay', 'import', 'realtime'] as const;
export type Origin = (typeof ORIGINS)[number];

/** What an item is, once its name and the beginning of its content are known. */
export interface ItemIdentity {
  readonly kind: ItemKind;
  /** Content type to store it with; for the known kinds never the sender's. */
  readonly contentType: string;
  /** Last segment of the key, made of a hash of the sender's name; only for attachments. */
  readonly attachmentName?: string;
  /** The sender's name of an attachment's part, kept as metadata only. */
  readonly partName?: string;
}

/** An incoming item before its content is known. */
export interface ItemDescription {
  /**
   * Identifies the item. Called exactly once, by the archive, when the key has to be chosen: after the
   * last byte (`whole` is true), or once the first `beginning.length` bytes of a larger item are in.
   */
  identify(beginning: Buffer, whole: boolean): ItemIdentity;
  /** The sender's file name, kept as metadata only. */
  readonly fileName?: string | undefined;
  /** Most bytes it can have by the sender's framing; lets buffers have the right size at once. */
  readonly expectedBytes?: number | undefined;
  /** A substitute for the real item: it is dropped when something is stored under its key already. */
  readonly standsIn?: boolean;
}

/**
 * Takes one item's bytes in order.
 *
 * `write` settles when the chunk was accepted (back-pressure: no free memory, or uploads in flight); it must not be called again
 * before. `end` settles when the item is held completely, though not yet visible to anyone.
 */
export interface IncomingItem {
  write(chunk: Buffer): Promise<void>;
  end(): Promise<void>;
}

/** Takes the items of one delivery, one after the other. */
export interface ItemSink {
  open(description: ItemDescription): IncomingItem;
}

/** One item as stored. `outcome` is what this delivery changed. */
export interface StoredItem {
  readonly kind: ItemKind;
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
  readonly outcome: 'created' | 'identical' | 'conflict';
}
