import { hash } from 'node:crypto';

/** Bytes of an object or a part. A body that was discarded is empty, whatever its size. */
export interface Content {
  readonly body: Buffer;
  readonly size: number;
}

interface StandInObject extends Content {
  readonly headers: Record<string, string>;
  readonly modifiedAt: Date;
  readonly etag: string;
}

interface StandInUpload {
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly begun: Date;
  readonly parts: Map<number, Content & { readonly etag: string }>;
}

/** A version of an object, or a delete marker. */
interface StandInVersion {
  readonly key: string;
  readonly versionId: string;
  /** Null: a delete marker. */
  readonly object: StandInObject | null;
}

let serial = 0;

/** The content of the stand-in; tests read and change it. */
export interface S3State {
  readonly objects: Map<string, StandInObject>;
  readonly uploads: Map<string, StandInUpload>;
  /** The most keys and folders in a page of a listing. */
  page: number;
  versioning: 'Enabled' | 'Suspended' | null;
  objectLock: boolean;
  /** What the server says of the checksum of an upload that begins; null: nothing. */
  checksumType: 'COMPOSITE' | 'FULL_OBJECT' | null;
  /** Rules of the bucket's lifecycle configuration, as XML; null without one. */
  lifecycle: string | null;
  /** Days of the bucket's default retention; null without one. */
  defaultRetention: number | null;
  /** Oldest first, the current ones included; only with versioning. */
  readonly versions: StandInVersion[];
  /** Versions that cannot be removed, with the headers that explain it. */
  readonly locked: Map<string, Record<string, string>>;
  /** Removes the current object; with versioning by a delete marker. */
  remove(key: string): void;
  /** False for a locked version. */
  removeVersion(key: string, versionId: string): boolean;
  /** @param size of the object where the body was discarded */
  put(key: string, body: Buffer, headers: Record<string, string>, size?: number): StandInObject;
}

/** @param clock milliseconds since the epoch, for the times of objects */
export function createS3State(clock = Date.now): S3State {
  const objects = new Map<string, StandInObject>();
  const versions: StandInVersion[] = [];
  const locked = new Map<string, Record<string, string>>();
  const add = (key: string, object: StandInObject | null) =>
    versions.push({ key, versionId: `v${++serial}`, object });
  return {
    objects,
    versions,
    locked,
    remove(key) {
      if (this.versioning !== null) add(key, null);
      objects.delete(key);
    },
    removeVersion(key, versionId) {
      if (versionId === 'null') return objects.delete(key) || true;
      if (locked.has(versionId)) return false;
      const index = versions.findIndex((each) => each.key === key && each.versionId === versionId);
      if (index >= 0) versions.splice(index, 1);
      const current = versions.findLast((each) => each.key === key)?.object ?? null;
      if (current === null) objects.delete(key);
      else objects.set(key, current);
      return true;
    },
    uploads: new Map(),
    page: 1_000,
    versioning: null,
    objectLock: false,
    checksumType: null,
    lifecycle: null,
    defaultRetention: null,
    put(key, body, headers, size = body.length) {
      const object = { body, size, headers, modifiedAt: new Date(clock()), etag: etagOf({ body, size }) };
      objects.set(key, object);
      if (this.versioning !== null) add(key, object);
      return object;
    },
  };
}

/** A discarded body has no hash; a serial number replaces it. */
export function etagOf(content: Content): string {
  if (isKept(content)) return `"${hash('md5', content.body)}"`;
  serial += 1;
  return `"${serial.toString(16).padStart(32, '0')}"`;
}

function isKept({ body, size }: Content): boolean {
  return body.length === size;
}

/** Discarded bytes come back as zeros. */
export function bytesOf(content: Content): Buffer {
  return isKept(content) ? content.body : Buffer.alloc(content.size);
}

export function joined(parts: readonly Content[]): Content {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  return { size, body: parts.every(isKept) ? Buffer.concat(parts.map(({ body }) => body)) : Buffer.alloc(0) };
}
