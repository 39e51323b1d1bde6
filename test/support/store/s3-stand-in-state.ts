import { hash } from 'node:crypto';

export interface StandInObject {
  readonly body: Buffer;
  readonly headers: Record<string, string>;
  readonly modifiedAt: Date;
  readonly etag: string;
}

export interface StandInUpload {
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly begun: Date;
  readonly parts: Map<number, Buffer>;
}

/** What the stand-in holds; tests look at it and may change it. */
export interface S3State {
  readonly objects: Map<string, StandInObject>;
  readonly uploads: Map<string, StandInUpload>;
  versioning: 'Enabled' | 'Suspended' | null;
  objectLock: boolean;
  put(key: string, body: Buffer, headers: Record<string, string>): StandInObject;
}

export function createS3State(): S3State {
  const objects = new Map<string, StandInObject>();
  return {
    objects,
    uploads: new Map(),
    versioning: null,
    objectLock: false,
    put(key, body, headers) {
      const object = { body, headers, modifiedAt: new Date(), etag: etagOf(body) };
      objects.set(key, object);
      return object;
    },
  };
}

export function etagOf(body: Buffer): string {
  return `"${hash('md5', body)}"`;
}
