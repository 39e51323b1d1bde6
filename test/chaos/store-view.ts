import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { filesBelow } from './volume.js';

/** Reads the store by keys alone, independently of the product's code. */
export interface StoreView {
  keys(): Promise<string[]>;
  read(key: string): Promise<Buffer>;
  write(key: string, text: string): Promise<void>;
  /** What unfinished uploads lie about, in words. */
  leftovers(): Promise<string[]>;
  /** Removes everything below the prefix. */
  wipe(): Promise<void>;
}

export interface S3Place {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  readonly prefix: string;
}

/** A folder: visible files are objects, `.tmp` holds uploads. */
export function viewOfFolder(folder: string): StoreView {
  return {
    async keys() {
      const files = await filesBelow(folder);
      return files.filter((key) => !key.startsWith('.'));
    },
    read: (key) => readFile(join(folder, key)),
    async write(key, text) {
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), text);
    },
    leftovers: () => filesBelow(join(folder, '.tmp')),
    wipe: async () => {},
  };
}

export async function viewOfBucket(place: S3Place): Promise<StoreView> {
  const { bucket: Bucket, prefix } = place;
  const credentials = { accessKeyId: place.accessKeyId, secretAccessKey: place.secretAccessKey };
  const client = new S3Client({
    endpoint: place.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
  });
  await client.send(new CreateBucketCommand({ Bucket })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error;
  });

  async function keys(): Promise<string[]> {
    const found: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: prefix, ...(ContinuationToken && { ContinuationToken }) }),
      );
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) found.push(Key.slice(prefix.length));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return found;
  }

  return {
    keys: async () => (await keys()).filter((key) => !key.startsWith('.')),
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async write(key, text) {
      await client.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body: text }));
    },
    async leftovers() {
      const found: string[] = [];
      let next: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | null = {};
      while (next !== null) {
        const page: ListMultipartUploadsCommandOutput = await client.send(
          new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...next }),
        );
        for (const { Key } of page.Uploads ?? []) found.push(Key ?? '');
        next = page.IsTruncated
          ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
          : null;
      }
      return found;
    },
    async wipe() {
      const all = await keys();
      while (all.length > 0) {
        const Objects = all.splice(0, 1000).map((key) => ({ Key: prefix + key }));
        await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
      }
      client.destroy();
    },
  };
}
