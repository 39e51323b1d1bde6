import { KEY_TTL_SECONDS, type KeyType, type TemporaryKeyResponse } from '../../speech/wire.js';
import { faultAnswer } from '../api-faults.js';
import type { ActiveFaults } from '../faults.js';
import { type Handler, methodNotAllowed, readJsonBody, type ServerAnswer } from '../http-server.js';
import type { KeyRing } from '../key-ring.js';

/** `POST /v1/api_keys?type=batch|rt`: issues temporary keys from an API key. */
export function keyService(keys: KeyRing, faults: ActiveFaults): Handler {
  return async ({ method, path, query, headers, body }) => {
    if (path.join('/') !== 'v1/api_keys') return keyError(404, 'not found');
    if (method !== 'POST') return { ...methodNotAllowed(['POST']), ...keyError(405, 'method not allowed') };
    const fault = faultAnswer(faults.ofOperation('keys', { region: null, jobId: null }));
    if (fault) return fault;
    if (headers.authorization === undefined) return keyError(401, 'missing API key');
    const caller = await keys.identify(headers.authorization);
    // The interface document has 401 for any request without a valid key; the public API answers 403 to a wrong one.
    if (caller === null) return keyError(401, 'invalid API key');
    if (caller.kind !== 'api-key') return keyError(403, 'a temporary key makes no other');
    const type = query.get('type') ?? 'batch';
    if (type !== 'batch' && type !== 'rt') return keyError(422, 'type: must be batch or rt');
    return issueKey(keys, type, await readJsonBody(body));
  };
}

async function issueKey(keys: KeyRing, type: KeyType, request: unknown): Promise<ServerAnswer> {
  if (typeof request !== 'object' || request === null) return keyError(422, 'body: must be a JSON object');
  const { ttl, client_ref: clientRef } = request as { ttl?: unknown; client_ref?: unknown };
  const { min, max } = KEY_TTL_SECONDS;
  if (typeof ttl !== 'number' || !Number.isInteger(ttl)) return keyError(422, 'ttl: must be an integer');
  if (ttl < min || ttl > max) return keyError(422, `ttl: must be between ${min} and ${max}`);
  if (clientRef !== undefined && typeof clientRef !== 'string')
    return keyError(422, 'client_ref: must be a string');
  // client_ref is ignored for rt keys, and region has no effect: docs/service-interface.md, "Keys".
  const clientRefOfKey = type === 'batch' ? (clientRef ?? null) : null;
  const issued: TemporaryKeyResponse = {
    apikey_id: null,
    key_value: await keys.issue(type, ttl, clientRefOfKey),
  };
  return { status: 201, json: issued };
}

function keyError(code: number, message: string): ServerAnswer {
  return { status: code, json: { code, message } };
}
