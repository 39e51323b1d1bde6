import type { Quarantine } from '../archive/quarantine/quarantine.js';
import type { UndecodableError } from '../content/decode-error.js';
import { Problem } from '../domain/problem.js';
import { type CallbackQuery, storableQuery } from './access/query.js';
import type { Arrival } from './arrival.js';
import { type CallbackRequest, storableHeaders } from './callback-request.js';
import type { RawKeeper } from './raw-body-copy.js';

/**
 * Puts the raw body of an undecodable delivery into quarantine. Throws `body-malformed` when it was too large to
 * keep, and `overloaded` when there was no memory to keep it: the sender may have more luck next time.
 */
export async function quarantineBody(
  quarantine: Quarantine,
  request: CallbackRequest,
  { sender, deliveryId, receivedAt }: Arrival,
  query: CallbackQuery,
  kept: RawKeeper,
  fault: UndecodableError,
): Promise<void> {
  const record = {
    deliveryId,
    receivedAt,
    source: sender.source.name,
    region: sender.region,
    clientIp: sender.clientIp,
    method: request.method,
    jobId: query.jobId,
    status: query.status,
    query: storableQuery(query),
    headers: storableHeaders(request, sender.source.credentialHeaders),
    reason: fault.reason,
    detail: fault.message,
  };
  const body = kept.hold();
  if (body === 'no-memory') throw new Problem('overloaded', 'Too much is being received to keep this body.');
  if (body === 'over-cap') throw new Problem('body-malformed', `${fault.message} (${fault.reason})`);
  try {
    await quarantine.keep(record, body.bytes);
  } finally {
    body.release();
  }
}
