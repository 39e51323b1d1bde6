import type { DeliveryShape } from '../domain/delivery.js';
import { recordedType } from './media-type.js';
import type { PartHead } from './part-head.js';
import { isKnownPartName } from './part-plan.js';

/** A part as the ledger records it. */
export type PartShape = NonNullable<DeliveryShape['parts']>[number];

const TRANSFER_ENCODING = /^[A-Za-z0-9-]{1,40}$/;

/**
 * What the ledger may keep of a part: names of the interface only, never file names. Erasing a job removes its objects, but
 * its ledger lines stay.
 */
export function partShape({ name, contentType, transferEncoding }: PartHead, bytes: number): PartShape {
  return {
    name: isKnownPartName(name) ? name : null,
    ...(contentType === undefined ? {} : { contentType: recordedType(contentType) }),
    ...(transferEncoding !== undefined && TRANSFER_ENCODING.test(transferEncoding)
      ? { transferEncoding }
      : {}),
    bytes,
  };
}
