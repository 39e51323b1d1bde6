import { readBytes } from '../read-to-end.js';
import { conditionOf } from '../store-condition.js';
import { collected, type ProbePlace } from './probe-place.js';

/**
 * Reads a range of an object, deletes an object, and aborts an upload. Resolves to a violation that no setting compensates, or to null.
 * Operations that permissions deny are skipped: without them objects cannot be erased (docs/stores.md). Throws `StoreError` for a failure
 * that may be temporary.
 */
export async function probeOperations(place: ProbePlace): Promise<string | null> {
  return (await rangeFault(place)) ?? (await deletionFault(place)) ?? (await abortFault(place));
}

async function rangeFault({ store, newKey, headers }: ProbePlace): Promise<string | null> {
  const key = newKey('range');
  await store.create(key, Buffer.from('0123456789'), headers);
  const found = await readBytes(store, key, 10, { start: 2, end: 4 });
  return found?.bytes?.toString() === '234' ? null : 'it does not give a range of an object (Range)';
}

async function deletionFault({ store, folder, newKey, headers }: ProbePlace): Promise<string | null> {
  const key = newKey('deleted/object');
  await store.create(key, Buffer.from('probe'), headers);
  try {
    await store.delete(key);
  } catch (error) {
    if (conditionOf(error) === 'denied') return null;
    throw error;
  }
  if ((await store.head(key)) !== null) return 'it still has an object that it has deleted';
  const listed = await collected(store.list(`${folder}deleted/`));
  return listed.length === 0 ? null : 'it still lists an object that it has deleted';
}

async function abortFault({ store, folder, newKey, headers, uploads }: ProbePlace): Promise<string | null> {
  const key = newKey('aborted/upload');
  const upload = await store.startUpload(key, headers);
  uploads.push(upload);
  await upload.write(Buffer.from('probe'));
  if ((await store.head(key)) !== null) return 'an upload is visible before it is complete';
  try {
    const aborted = await store.abortUploads(`${folder}aborted/`);
    return aborted > 0
      ? null
      : 'it does not list uploads that were begun, so that those of dead replicas would stay';
  } catch (error) {
    if (conditionOf(error) === 'denied') return null;
    throw error;
  }
}
