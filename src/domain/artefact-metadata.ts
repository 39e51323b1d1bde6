import { type DeliveryContext, MAX_CONTEXT_VALUE, metadataName } from './context.js';
import { ORIGINS, type Origin } from './item.js';
import { ITEM_KINDS, type ItemKind } from './kinds.js';
import { MAX_REGION_NAME } from './region.js';

/** What the metadata of an artefact says of its delivery. */
export interface ArtefactFacts {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string | null;
  readonly source: string;
  readonly region: string | null;
  readonly origin: Origin;
  readonly receivedAt: string;
  readonly context: DeliveryContext | null;
}

/** What the metadata of an artefact says of itself. */
export interface ItemFacts {
  readonly kind: ItemKind;
  readonly sha256?: string | undefined;
  readonly fileName?: string | undefined;
  readonly partName?: string | undefined;
}

/** Bytes of user metadata that S3 takes, names and values together. */
export const MAX_METADATA_BYTES = 2048;
/** Servers differ in whether this counts. */
const PREFIX = 'x-amz-meta-';

/** Longest encoded form of each name that the sender chose, and the length that is reserved for each beside a context. */
const MAX_NAME_LENGTH = 512;
const MIN_NAME_LENGTH = 32;

/** User metadata of an artefact, ASCII throughout and never more than S3 takes (docs/store-layout.md). */
export function artefactMetadata(facts: ArtefactFacts, item: ItemFacts): Record<string, string> {
  const { status, region, context } = facts;
  const { kind, sha256, fileName, partName } = item;
  const metadata: Record<string, string> = {
    'job-id': facts.jobId,
    kind,
    source: facts.source,
    'delivery-id': facts.deliveryId,
    'received-at': facts.receivedAt,
    origin: facts.origin,
  };
  if (status !== null) metadata.status = status;
  if (region !== null) metadata.region = region;
  if (sha256 !== undefined) metadata.sha256 = sha256;
  let nameLength = MAX_NAME_LENGTH;
  if (context !== null) {
    for (const [name, value] of Object.entries(context)) metadata[metadataName(name)] = value;
    nameLength = Math.min(nameLength, roomForName(metadata));
  }
  if (fileName !== undefined) metadata['file-name'] = percentEncoded(fileName, nameLength);
  if (partName !== undefined) metadata['part-name'] = percentEncoded(partName, nameLength);
  return metadata;
}

/** Metadata name of a chosen artefact: the SHA-256 of the bytes that it replaced, which are kept among the conflicts. */
export const REPLACED = 'replaced';

/**
 * The metadata of a version at another key. The sender's names give way where there is no room for the hash.
 *
 * @param replaced hash of the bytes that it replaces; null where it replaces none
 */
export function versionMetadata(
  metadata: Readonly<Record<string, string>>,
  sha256: string,
  replaced: string | null,
): Record<string, string> {
  const { [REPLACED]: _, ...own } = metadata;
  const whole = { ...own, sha256, ...(replaced === null ? {} : { [REPLACED]: replaced }) };
  if (metadataBytes(whole) <= MAX_METADATA_BYTES) return whole;
  const { 'file-name': _file, 'part-name': _part, ...rest } = whole as Record<string, string>;
  return rest;
}

/** Bytes of the largest metadata that an artefact of the source can have. @param names of the source's context */
export function longestMetadata(source: string, names: readonly string[]): number {
  const longest = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  return (
    metadataBytes({
      ...artefactMetadata(
        {
          jobId: ' '.repeat(64),
          status: ' '.repeat(64),
          source,
          deliveryId: ' '.repeat(26),
          receivedAt: new Date(0).toISOString(),
          region: ' '.repeat(MAX_REGION_NAME),
          origin: ORIGINS[0],
          context: null,
        },
        { kind: ITEM_KINDS[0], sha256: ' '.repeat(64) },
      ),
      origin: ' '.repeat(longest(ORIGINS)),
      kind: ' '.repeat(longest(ITEM_KINDS)),
      ...Object.fromEntries(names.map((name) => [metadataName(name), ' '.repeat(MAX_CONTEXT_VALUE)])),
    }) + bytesOfNames(MIN_NAME_LENGTH)
  );
}

/** Bytes left for each of the sender's two names. */
function roomForName(metadata: Readonly<Record<string, string>>): number {
  return Math.floor((MAX_METADATA_BYTES - metadataBytes(metadata) - bytesOfNames(0)) / 2);
}

function bytesOfNames(length: number): number {
  return metadataBytes({ 'file-name': ' '.repeat(length), 'part-name': ' '.repeat(length) });
}

function metadataBytes(metadata: Readonly<Record<string, string>>): number {
  return Object.entries(metadata).reduce(
    (sum, [name, value]) => sum + PREFIX.length + name.length + value.length,
    0,
  );
}

function percentEncoded(name: string, maxLength: number): string {
  let encoded = '';
  // Truncated between characters, never inside an escape.
  for (const character of name.toWellFormed()) {
    const more = encodeURIComponent(character);
    if (encoded.length + more.length > maxLength) break;
    encoded += more;
  }
  return encoded;
}
