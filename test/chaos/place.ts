import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import type { Sizes } from './callbacks.js';
import { mountSmallDisk } from './small-disk.js';
import { type StoreView, viewOfBucket, viewOfFolder } from './store-view.js';
import { attachVolume, type Volume } from './volume.js';

/** Where the replicas of a run store, and how the checker looks at it. */
export interface Place {
  readonly view: StoreView;
  /** Address of the S3; null for files. */
  readonly endpoint: string | null;
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
  /** Disk of the files that can vanish; null for S3. */
  readonly volume: Pick<Volume, 'vanish' | 'restore'> | null;
  /** Folder of the files; null for S3. */
  readonly folder: string | null;
  readonly sizes: Sizes;
  /** Uploads at once that are more than the memory budget holds. */
  readonly burst: number;
  readonly clockRangeMs: number;
  settings(endpoint: string | null, token: string, subscribers: object): object;
  /** The store itself, as a replica opens it, without faults on the way. */
  openStore(): Promise<ObjectStore>;
  remove(): Promise<void>;
}

function common(token: string, subscribers: object) {
  return {
    subscribers,
    sources: { default: { credentials: { chaos: { headers: [`X-Chaos-Token: ${token}`] } } } },
    log: { level: 'warn' },
  };
}

export function openPlace(store: 'file' | 's3', folder: string, seed: number): Promise<Place> {
  return store === 'file' ? openFiles(folder) : openBucket(seed);
}

async function openFiles(folder: string): Promise<Place> {
  const data = join(folder, 'data');
  const device = join(folder, 'device');
  await mkdir(device);
  const disk = await mountSmallDisk(device, 4 * 2 ** 30);
  const volume = await attachVolume(device, data);
  return {
    view: viewOfFolder(data),
    endpoint: null,
    disk,
    volume,
    folder: data,
    sizes: { media: [100_000, 1_500_000], mediaShare: 0.05, part: 256 * 1024 },
    burst: 30,
    clockRangeMs: 2 * 86_400_000,
    settings: (_endpoint, token, subscribers) => ({
      ...common(token, subscribers),
      store: { url: `file:${data}`, partSize: '256KiB', canaryInterval: '2s' },
      limits: {
        memoryBudget: '4MiB',
        quarantineBytes: '1MiB',
        maxConcurrentDeliveries: 128,
        idleTimeout: '3s',
        totalTimeout: '2h',
      },
    }),
    openStore: () => openStore({ url: `file:${data}` }),
    async remove() {
      await volume.unmount();
      await disk?.unmount();
    },
  };
}

async function openBucket(seed: number): Promise<Place> {
  const place = {
    endpoint: required('S3_ENDPOINT'),
    accessKeyId: required('S3_ACCESS_KEY_ID'),
    secretAccessKey: required('S3_SECRET_ACCESS_KEY'),
    bucket: process.env.S3_BUCKET ?? 'receiver-chaos',
    prefix: `chaos-${seed}-${Date.now().toString(36)}/`,
  };
  const { accessKeyId, secretAccessKey, bucket, prefix } = place;
  const view = await viewOfBucket(place);
  const url = `s3://${bucket}/${prefix}`;
  const access = { region: 'us-east-1', forcePathStyle: true, accessKeyId, secretAccessKey };
  return {
    view,
    endpoint: place.endpoint,
    disk: null,
    volume: null,
    folder: null,
    sizes: { media: [100_000, 13_000_000], mediaShare: 0.02, part: 5 * 1024 * 1024 },
    burst: 12,
    // S3 refuses signatures that are a quarter of an hour off.
    clockRangeMs: 240_000,
    settings: (endpoint, token, subscribers) => ({
      ...common(token, subscribers),
      store: {
        url,
        partSize: '5MiB',
        canaryInterval: '2s',
        s3: {
          ...access,
          endpoint,
          requestTimeout: '3s',
          retries: 2,
        },
      },
      limits: {
        memoryBudget: '20MiB',
        quarantineBytes: '1MiB',
        maxConcurrentDeliveries: 128,
        idleTimeout: '3s',
        totalTimeout: '2h',
      },
    }),
    openStore: () => openStore({ url, s3: { ...access, endpoint: place.endpoint } }),
    remove: () => view.wipe(),
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`chaos on S3 needs ${name}`);
  return value;
}
