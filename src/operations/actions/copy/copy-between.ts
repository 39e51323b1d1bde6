import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { classOfKey } from '../../../archive/layout.js';
import { readBack } from '../../../archive/read-back.js';
import { CONTENT_CLASSES } from '../../../domain/kinds.js';
import { WRITTEN_AT, writtenFirst } from '../../../ledger/read-segment.js';
import { parseSegmentKey } from '../../../ledger/segment-key.js';
import {
  type CreateResult,
  type ObjectHeaders,
  type ObjectInfo,
  type ObjectReading,
  type ObjectStore,
  StoreError,
} from '../../../store/object-store.js';
import { readToEnd } from '../../../store/read-to-end.js';
import type { ByteGate } from './byte-gate.js';
import type { KeyPair } from './pair-keys.js';

export interface BetweenStores {
  readonly from: ObjectStore;
  readonly to: ObjectStore;
  readonly holding: ByteGate;
}

/** Buffers of an upload: one is filled while the other is sent. */
const BUFFERS = 2;

/** The object differs from its metadata, or keeps changing: a retry does not help. */
export class UncopiedObjectError extends StoreError {
  constructor(detail: string) {
    super('copy', detail);
    this.name = 'UncopiedObjectError';
  }
}

/**
 * Copies an object byte for byte, replacing one in the copy. Resolves to its size; null when the source does not have it any more. Throws
 * `StoreError`.
 */
export async function copyBetween(parts: BetweenStores, pair: KeyPair): Promise<number | null> {
  const { holding, to, from } = parts;
  let size = pair.source?.size ?? 0;
  // The object may have changed its size since it was listed.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const memory = size <= to.partSize ? size : BUFFERS * to.partSize;
    const found = await holding(memory, async () => {
      const reading = await from.read(pair.key);
      if (reading === null || reading.info.size === size) return reading && write(parts, pair, reading);
      reading.body.destroy();
      size = reading.info.size;
      return undefined;
    });
    if (found !== undefined) return found;
  }
  throw new UncopiedObjectError('it changes while it is copied');
}

async function write(
  { from, to }: BetweenStores,
  { key, copy }: KeyPair,
  reading: ObjectReading,
): Promise<number> {
  const { info, body } = reading;
  const headers = headersOf(info);
  // Delete and create, because a policy of the bucket may forbid to overwrite objects.
  const makeRoom = async () => void (copy !== null && (await to.delete(key)));
  const sent =
    info.size <= to.partSize
      ? await writeWhole(to, reading, headers, makeRoom)
      : await writeParts(to, info, body, headers, makeRoom);
  if (sent.result === 'exists' && (await readBack(to, key))?.sha256 !== sent.sha256)
    throw new StoreError('copy', 'it has other bytes in the copy');
  if (info.size > to.partSize && (await from.head(key))?.version !== info.version)
    throw new StoreError('copy', 'it was replaced while it was copied');
  return info.size;
}

interface Sent {
  readonly result: CreateResult;
  readonly sha256: string;
}

async function writeWhole(
  to: ObjectStore,
  reading: ObjectReading,
  headers: ObjectHeaders,
  makeRoom: () => Promise<void>,
): Promise<Sent> {
  const { info } = reading;
  const bytes = await readToEnd(reading);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  assertIntact(info, sha256);
  await makeRoom();
  return { result: await to.create(info.key, bytes, headers), sha256 };
}

async function writeParts(
  to: ObjectStore,
  info: ObjectInfo,
  body: Readable,
  headers: ObjectHeaders,
  makeRoom: () => Promise<void>,
): Promise<Sent> {
  const hash = createHash('sha256');
  const upload = await to.startUpload(info.key, headers).catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  try {
    let sending: Promise<void> = Promise.resolve();
    for await (const part of partsOf(body, to.partSize)) {
      hash.update(part);
      await sending;
      sending = upload.write(part);
      // It is awaited with the next part.
      sending.catch(() => undefined);
    }
    await sending;
    const sha256 = hash.digest('hex');
    assertIntact(info, sha256);
    await makeRoom();
    return { result: await upload.complete(), sha256 };
  } catch (error) {
    body.destroy();
    await upload.abort();
    throw error;
  }
}

/** Cuts a body into parts of the size; only the last one is smaller. */
async function* partsOf(body: Readable, size: number): AsyncGenerator<Buffer> {
  let part = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.copy(part, filled, at);
      at += taken;
      filled += taken;
      if (filled < size) continue;
      yield part;
      part = Buffer.allocUnsafe(size);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

const SHA256 = /^[0-9a-f]{64}$/;

function assertIntact({ metadata }: ObjectInfo, sha256: string): void {
  if (!SHA256.test(metadata.sha256 ?? '') || metadata.sha256 === sha256) return;
  throw new UncopiedObjectError('its bytes are not those that its metadata names (verify --deep)');
}

/** Headers as the store wrote them. Tags, storage class and lock follow the settings of the copy. */
function headersOf(info: ObjectInfo): ObjectHeaders {
  const { key, contentType, metadata } = info;
  const kind = CONTENT_CLASSES.find((each) => each === classOfKey(key));
  const { source } = metadata;
  return {
    contentType,
    metadata:
      parseSegmentKey(key) === null
        ? metadata
        : { ...metadata, [WRITTEN_AT]: writtenFirst(info).toISOString() },
    ...(kind !== undefined && source !== undefined && { content: { kind, source } }),
  };
}
