import type { ContentTags } from '../object-store.js';
import type { ProbePlace } from './probe-place.js';

/** Tags that no rule of an operator selects. */
export const PROBE_TAGS: ContentTags = { kind: 'probe', source: 'probe' };
const HEADERS = { contentType: 'text/plain', metadata: {}, content: PROBE_TAGS };

/**
 * Writes objects with tags, in one request and in parts, and reads the tags back. Resolves to a fault, or to null. In a store that ignores
 * tags, lifecycle rules would silently keep objects.
 */
export async function probeTags({ store, newKey, uploads }: ProbePlace): Promise<string | null> {
  const { tags } = store;
  if (tags === undefined) return null;
  const small = newKey('tagged');
  const large = newKey('tagged-in-parts');
  const write = async () => {
    await store.create(small, Buffer.from('tagged'), HEADERS);
    const upload = await store.startUpload(large, HEADERS);
    uploads.push(upload);
    await upload.write(Buffer.from('tagged'));
    await upload.complete();
  };
  try {
    await write();
  } catch (error) {
    return `an object with tags cannot be written, for which store.s3.tags needs the permission s3:PutObjectTagging (${reason(error)})`;
  }
  try {
    const found = [await tags(small), await tags(large)];
    return found.every(isTagged) ? null : 'store.s3.tags is true, but the store does not keep object tags';
  } catch (error) {
    return `object tags cannot be read back, for which store.s3.tags needs the permission s3:GetObjectTagging (${reason(error)})`;
  }
}

function isTagged(found: Readonly<Record<string, string>> | null): boolean {
  return found?.kind === PROBE_TAGS.kind && found.source === PROBE_TAGS.source;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'it failed';
}
