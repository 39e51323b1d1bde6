import type { Readable } from 'node:stream';

/**
 * The one thing this product needs of a store. Two implementations, one contract suite
 * (`test/contract/object-store.ts`): files and S3. Absence is `null`, trouble throws `StoreError`.
 *
 * Keys are relative to the store's own prefix, `/`-separated, never starting with `/`; what else is refused
 * says `object-key.ts`. Objects in dot-folders at the top (`.canary/`, `.probe/`) are written and read like
 * others, but listings show them only to a prefix that begins with a dot.
 */
export interface ObjectStore {
  /** Human-readable location without secrets, e.g. `s3://bucket/prefix` or `file:/var/data`. */
  readonly location: string;

  /** Bytes per part of a multipart upload; bodies up to this size are written with `create`. */
  readonly partSize: number;

  /**
   * Writes an object if none is there, atomically across processes, durable when it resolves.
   * `exists` means: something lies at that key now. After a lost answer that may be our own write,
   * so callers who care read back and compare (the `delivery-id` in the metadata tells).
   */
  create(key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult>;

  /** Writes an object whether or not one is there. Only for documents of our own that have one writer. */
  replace(key: string, body: Buffer, headers: ObjectHeaders): Promise<void>;

  /** Begins an upload in parts that stays invisible until `complete`. */
  startUpload(key: string, headers: ObjectHeaders): Promise<PendingUpload>;

  head(key: string): Promise<ObjectInfo | null>;

  /**
   * Opens an object for reading; the caller consumes or destroys `body`. A body cut short ends in an error,
   * never in a clean end. `range` is inclusive, in bytes, and clipped to the object: one that begins beyond
   * the end reads as empty. `info.size` is always the size of the whole object.
   *
   * A body that breaks ends in a `StoreError`, too.
   *
   * @param pace who consumes it; default `own`
   */
  read(
    key: string,
    range?: { start: number; end: number } | null,
    pace?: ReadPurpose,
  ): Promise<ObjectReading | null>;

  /** All objects below a prefix in key order, to the last page; a broken listing throws, it never ends early. */
  list(prefix: string, options?: { startAfter?: string }): AsyncIterable<ListedObject>;

  /** Immediate sub-folders of a prefix that ends in `/`, each ending in `/`, in order. */
  folders(prefix: string): AsyncIterable<string>;

  /** Removes an object; a missing one is no error. */
  delete(key: string): Promise<void>;

  /**
   * Gives up uploads below this store's prefix that were begun before `olderThan` and never completed;
   * resolves to their number. Meant for what dead processes left: pass an age no live upload reaches.
   */
  sweepUploads(olderThan: Date): Promise<number>;

  /** What the place says of itself, for people; left out by a store that has nothing to say. Never throws. */
  traits?(): Promise<StoreTraits>;

  /** Ends connections and timers. Idempotent. */
  close(): Promise<void>;
}

/**
 * `own`: read to its end by this process, as fast as it comes. `download`: handed on to somebody who may pause;
 * must never make the others wait, and is bounded by its caller.
 */
export type ReadPurpose = 'own' | 'download';

/** Null where it could not be found out, for want of permission or because the server does not know. */
export interface StoreTraits {
  /** Whether old versions are kept of what is deleted or replaced. */
  readonly versioning: 'on' | 'off' | 'suspended' | null;
  /** Whether versions cannot be deleted before a time. */
  readonly objectLock: boolean | null;
}

export type CreateResult = 'created' | 'exists';

/**
 * Stored with the object. Metadata names are lower case; values printable ASCII; 2 KB in total.
 * The name `sha256` is kept for the hex SHA-256 of the object's own bytes: a store may use it to prove that
 * they arrived as they were received, and refuse others.
 */
export interface ObjectHeaders {
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

export interface ObjectInfo extends ListedObject, ObjectHeaders {}

export interface ObjectReading {
  readonly info: ObjectInfo;
  readonly body: Readable;
}

/**
 * An upload in parts. Parts are written in call order; several `write` calls may be under way at once
 * (the store bounds nothing, the caller does). All parts but the last are exactly `partSize` bytes.
 */
export interface PendingUpload {
  /** Settles when the store holds the part; until then `part` must not be touched. Retried inside. */
  write(part: Buffer): Promise<void>;
  /** Makes the object visible if none lies at its key; see `create` for `exists`. */
  complete(): Promise<CreateResult>;
  /** Gives up the upload and its parts. Never throws; what cannot be removed now is swept later. */
  abort(): Promise<void>;
}

/** The store could not do it: unreachable, refused, timed out, or answered nonsense. Nothing is known to be lost. */
export class StoreError extends Error {
  readonly operation: string;
  /** How long the store asked to be left alone; null when it did not. */
  readonly retryAfterMs: number | null;

  constructor(
    operation: string,
    detail: string,
    options?: { cause?: unknown; retryAfterMs?: number | null },
  ) {
    super(`${operation}: ${detail}`, options);
    this.name = 'StoreError';
    this.operation = operation;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

/** What lies there is not this store any more. Only a person can bring it back, so that there is nothing to wait for. */
export class StoreGoneError extends StoreError {
  constructor(detail: string) {
    super('store', detail);
    this.name = 'StoreGoneError';
  }
}
