import type { DeliveryShape } from '../../domain/delivery.js';
import { recordedType } from './media-type.js';
import type { PartHead } from './part-head.js';
import { isKnownPartName } from './part-plan.js';

/** A part as the ledger records it. */
export type PartShape = NonNullable<DeliveryShape['parts']>[number];

/** RFC 2045. Any other value is free text of the sender's. */
const TRANSFER_ENCODINGS = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);

/**
 * What the ledger may keep of a part: names of the interface only, never file names. Erasing a job removes its objects, but
 * its ledger lines stay.
 */
export function partShape({ name, contentType, transferEncoding }: PartHead, bytes: number): PartShape {
  return {
    name: isKnownPartName(name) ? name : null,
    ...(contentType === undefined ? {} : { contentType: recordedType(contentType) }),
    ...(transferEncoding === undefined ? {} : { transferEncoding: knownEncoding(transferEncoding) }),
    bytes,
  };
}

function knownEncoding(transferEncoding: string): string {
  const encoding = transferEncoding.trim().toLowerCase();
  return TRANSFER_ENCODINGS.has(encoding) ? encoding : 'other';
}
