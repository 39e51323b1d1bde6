import type { Readable } from 'node:stream';
import type { StoreCondition } from './store-remedies.js';

/**
 * An object store. Files and S3 implement it and pass one contract suite (`test/contract/object-store.ts`). A missing
 * object is `null`; every failure throws `StoreError`.
 *
 * Keys are relative to the store's own prefix, `/`-separated, and never begin with `/`; `object-key.ts` has all rules.
 * Objects in dot-folders at the top (`.canary/`, `.probe/`) are written and read like others, but listings include them
 * only for a prefix that begins with a dot.
 */
export interface ObjectStore {
  /** Human-readable location without secrets, e.g. `s3://bucket/prefix` or `file:/var/data`. */
  readonly location: string;

  /** Bytes per part of a multipart upload; bodies up to this size are written with `create`. */
  readonly partSize: number;

  /**
   * Writes an object if none exists, atomically across processes; durable when it resolves. `exists` means that an
   * object is at that key now. After a lost answer that may be the caller's own write: read it back and compare (the
   * metadata has the `delivery-id`).
   */
  create(key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult>;

  /**
   * Proves that objects can be created and read next to `key`, without showing in a listing. S3: by an object at `key` that stays; AWS and
   * others check the permission before the condition, so that `exists` proves it as well. Files: by the permissions of the folder and a
   * link that is removed again. Throws `StoreError`.
   *
   * @param key ends in `PROOF_NAME`
   * @param content as for the objects that are written there, whose tags need a permission of their own
   */
  prove(key: string, content?: ContentTags): Promise<CreateResult>;

  /** Writes an object, replacing an existing one. Only for the product's own documents that have one writer. */
  replace(key: string, body: Buffer, headers: ObjectHeaders): Promise<void>;

  /**
   * Copies an object of any size to another key within the store; durable when it resolves. `from` and `over` are results of
   * `head`: the copy replaces only `over`; with null nothing may exist at `key`. `changed` when the source or the target is not as
   * described. After a lost answer that may be the caller's own write, as with `create`.
   *
   * The file store compares and renames in two steps, and an S3 without conditions needs two requests: a caller that must not lose a
   * race between them takes a claim first.
   */
  copy(from: ObjectInfo, key: string, headers: ObjectHeaders, over: ObjectInfo | null): Promise<CopyResult>;

  /** Begins an upload in parts that stays invisible until `complete`. */
  startUpload(key: string, headers: ObjectHeaders): Promise<PendingUpload>;

  head(key: string): Promise<ObjectInfo | null>;

  /**
   * Opens an object for reading; the caller consumes or destroys `body`. A truncated or broken body ends in a
   * `StoreError`, never in a clean end. `range` is inclusive, in bytes, and clipped to the object: one that begins beyond
   * the end reads as empty. `info.size` is always the size of the whole object.
   *
   * @param purpose default `own`
   */
  read(
    key: string,
    range?: { start: number; end: number } | null,
    purpose?: ReadPurpose,
  ): Promise<ObjectReading | null>;

  /** Lists all objects below a prefix in key order. A broken listing throws; it never ends early. */
  list(prefix: string, options?: ListRange): AsyncIterable<ListedObject>;

  /** The keys of the same listing, at a tenth of its cost on a file system, where size and time take a call for each file. */
  keys(prefix: string, options?: ListRange): AsyncIterable<string>;

  /** Lists the immediate sub-folders of a prefix that ends in `/`, each ending in `/`, in order. */
  folders(prefix: string): AsyncIterable<string>;

  /** Removes an object. Resolves also when it is missing. */
  delete(key: string): Promise<void>;

  /**
   * Removes all objects below a folder, which ends in `/`, or one object, with their old versions, delete markers and metadata.
   * Yields everything that it found; what cannot be removed yet is hidden. One pass: repeat it until nothing is removed.
   */
  purge(place: string): AsyncIterable<PurgedObject>;

  /** Lists the keys below a folder, including those with only old versions left. A key may occur several times. */
  traces(folder: string): AsyncIterable<string>;

  /** Aborts all uploads below a folder, including live ones; resolves to their number. */
  abortUploads(folder: string): Promise<number>;

  /**
   * Aborts incomplete uploads below this store's prefix that began before `olderThan`; resolves to their
   * number. Cleans up after dead processes: pass an age that no live upload reaches.
   */
  sweepUploads(olderThan: Date): Promise<number>;

  /** Tags of an object; null when it is missing. Absent in stores without tags. */
  tags?(key: string): Promise<Readonly<Record<string, string>> | null>;

  /**
   * Removes a listed object with its metadata, but not one that was written to its key since. Durable. Absent in stores whose own rules
   * expire objects.
   */
  expire?(found: ListedObject): Promise<'removed' | 'missing' | 'replaced'>;

  /**
   * Id of the store, from the marker that `begin` creates; null when nothing was stored here yet. Throws `StoreGoneError` when it is
   * missing although `store.id` pins one, and `OtherStoreError` when it differs.
   */
  identity(): Promise<string | null>;

  /** Marks an unmarked store; resolves to its id. Throws as `identity` does. */
  begin(): Promise<string>;

  /** Milliseconds by which the store's clock was ahead of this machine's at its last answer; 0 before the first. */
  clockOffset(): number;

  /** Properties of the bucket, for messages. Absent in stores without any. Never throws. */
  traits?(): Promise<StoreTraits>;

  /** Ends connections and timers. Idempotent. */
  close(): Promise<void>;
}

/**
 * Reads of each purpose have connections of their own. `own`: this process reads to the end at full speed. `download`: the
 * body goes to a client that may pause, which must not delay other reads; the caller bounds their number.
 */
export type ReadPurpose = 'own' | 'download';

/** Properties of a bucket; null where unknown, because permission is missing or the server does not implement the request. */
export interface StoreTraits {
  /** Whether deleted and replaced objects remain as old versions. */
  readonly versioning: 'on' | 'off' | 'suspended' | null;
  /** Whether versions can be protected from deletion until a date. */
  readonly objectLock: boolean | null;
  /** Default retention that the bucket puts on every new object, in words; null also without one. */
  readonly defaultRetention: string | null;
  /** Why the bucket cannot be used as configured; null when no fault is known. */
  readonly fault: string | null;
}

export type CreateResult = 'created' | 'exists';
export type CopyResult = 'copied' | 'changed';

/**
 * Stored with the object. Metadata names are lower case; values printable ASCII; 2 KB in total.
 * The name `sha256` is reserved for the hex SHA-256 of the object's bytes: a store may check them against it and reject
 * others.
 */
export interface ObjectHeaders {
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Present only on objects that hold job content. */
  readonly content?: ContentTags | undefined;
}

/** Properties by which an operator's rules distinguish objects: object tags, storage classes. */
export interface ContentTags {
  readonly kind: string;
  readonly source: string;
}

export interface ListRange {
  /** Keys per request, where the store has pages. Default: the store's maximum. */
  readonly pageSize?: number;
  /** Only keys after this one. */
  readonly startAfter?: string;
  /** Maximum number of objects. */
  readonly limit?: number;
  /** Lists in the cheapest order: to sort a large folder, files read it again for each batch. */
  readonly anyOrder?: boolean;
  /** Only objects in the folder itself; its sub-folders are not read. */
  readonly direct?: boolean;
  /** Aborts the listing, which then throws its reason; no further call is made. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a folder or an object that cannot be read, where the store has folders; the listing continues. Default: it throws. */
  readonly onUnreadable?: ((key: string, error: StoreError) => void) | undefined;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

/** An object or version that `purge` found. */
export interface PurgedObject {
  readonly key: string;
  readonly size: number;
  readonly what: 'object' | 'version';
  /** Null when it was removed. */
  readonly kept: KeptObject | null;
}

/** Why an object or version could not be removed. */
export interface KeptObject {
  /** `denied`: the right to remove versions is missing. `unlisted`: the right to list them, so their number is unknown. */
  readonly reason: 'retention' | 'legal-hold' | 'denied' | 'unlisted';
  /** When it can be removed; null when that is unknown. */
  readonly until: Date | null;
}

export interface ObjectInfo extends ListedObject, ObjectHeaders {
  /** Differs between any two writes of different bytes to the key. */
  readonly version: string;
  /**
   * MD5 that the store computed when it received the bytes: an ETag of S3 in the form of an MD5. An equal one proves the bytes. A
   * different one proves nothing: for an object encrypted with KMS the ETag is no MD5.
   */
  readonly md5?: string;
  /** Why the object cannot be removed at present; also absent where the store does not show it. */
  readonly lock?: KeptObject;
}

export interface ObjectReading {
  readonly info: ObjectInfo;
  readonly body: Readable;
  /** The bytes of `body`, where they are in memory already. */
  readonly bytes?: Buffer;
}

/**
 * An upload in parts. Parts are written in call order. Several `write` calls may be in flight; the caller bounds their
 * number. All parts but the last have exactly `partSize` bytes.
 */
export interface PendingUpload {
  /** Settles when the store has the part, or after the last retry; until then `part` must not be changed. */
  write(part: Buffer): Promise<void>;
  /** Makes the object visible if none exists at its key, and aborts the upload otherwise; see `create` for `exists`. */
  complete(): Promise<CreateResult>;
  /** Aborts the upload and removes its parts, once no write is in flight. Never throws; the sweep removes what remains. */
  abort(): Promise<void>;
}

/** A store operation failed: unreachable, refused, timed out, or an invalid answer. It may have taken effect. */
export class StoreError extends Error {
  /** Null for a failure of this one call. */
  readonly condition: StoreCondition | null;
  /** From the store's `Retry-After`; null without one. */
  readonly retryAfterMs: number | null;

  constructor(
    operation: string,
    detail: string,
    options?: { cause?: unknown; retryAfterMs?: number | null; condition?: StoreCondition | null },
  ) {
    super(`${operation}: ${detail}`, options);
    this.name = 'StoreError';
    this.condition = options?.condition ?? null;
    this.retryAfterMs = options?.retryAfterMs ?? null;
  }
}

/** Something other than an object is at a key or on its path, such as a link. Retrying is useless until an operator removes it. */
export class BlockedKeyError extends StoreError {
  constructor(operation: string, detail: string, options?: { cause?: unknown }) {
    super(operation, detail, options);
    this.name = 'BlockedKeyError';
  }
}

/** The store is not the one that the configuration pins: it must not be written to. */
export class OtherStoreError extends StoreError {
  constructor(location: string, found: string, pinned: string) {
    super(
      'store',
      `${location} is the store ${found}, and store.id is ${pinned}: correct store.url or store.id`,
      { condition: 'missing' },
    );
    this.name = 'OtherStoreError';
  }
}

/** A listing is not in the order that `list` promises: continuing from a key would skip objects. */
export class UnorderedListingError extends StoreError {
  /** The violation, in the words of the probe. */
  readonly fault: string;

  constructor(prefix: string, fault: string) {
    super('list', `the store cannot be used: ${fault} (below "${prefix}")`);
    this.name = 'UnorderedListingError';
    this.fault = fault;
  }
}

/** A listing lacks an existing object: it is empty, leaves keys out, or stops early. */
export class PartialListingError extends StoreError {
  constructor(prefix: string, lacking: string) {
    super('list', `the listing of "${prefix}" is not whole: it lacks ${lacking}, which is there`);
    this.name = 'PartialListingError';
  }
}

/**
 * The object is in a storage class without immediate reads, such as GLACIER. Retrying is useless until it is restored; `head` describes it.
 */
export class UnrestoredObjectError extends StoreError {}

/** The folder is no longer this store. Retrying is useless: an operator has to restore it. */
export class StoreGoneError extends StoreError {
  constructor(detail: string) {
    super('store', detail, { condition: 'missing' });
    this.name = 'StoreGoneError';
  }
}

/** The store exists without the marker that identifies it. */
export class UnmarkedStoreError extends StoreGoneError {}
