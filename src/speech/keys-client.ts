import type { Transport } from './http/transport.js';
import { SpeechError } from './speech-error.js';
import { KEY_TTL_SECONDS, type KeyType, type TemporaryKeyRequest } from './wire.js';

export interface TemporaryKeyOrder {
  /** `batch` for the jobs API, `rt` for realtime and agent sessions. */
  readonly type: KeyType;
  /** 60 to 86400; the shortest workable is best. */
  readonly ttlSeconds: number;
  /**
   * One end-user; only with `batch`, because the service ignores it for `rt` keys. Needed whenever the key is
   * shown to end-users, or one could see and delete another's jobs.
   */
  readonly clientRef?: string;
}

export interface TemporaryKey {
  /** The JWT: a secret. */
  readonly value: string;
  readonly id: string | null;
}

export interface KeysClient {
  /**
   * Throws `SpeechError`: `invalid-request` (nothing sent) for orders outside the bounds, `forbidden` for a bad API key.
   *
   * @example
   * const { value } = await clients.keys().create({ type: 'rt', ttlSeconds: 60 });
   */
  create(order: TemporaryKeyOrder, signal?: AbortSignal): Promise<TemporaryKey>;
}

const OPERATION = 'create temporary key';

/** Client of the key service (docs/service-interface.md#keys). */
export function createKeysClient(keysUrl: URL, transport: Transport): KeysClient {
  return {
    async create(order, signal) {
      const body = JSON.stringify(orderBody(order));
      const url = new URL(keysUrl);
      url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/api_keys`;
      url.searchParams.set('type', order.type);
      const answer = await transport.json({
        operation: OPERATION,
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body,
        signal,
      });
      return readKey(answer);
    },
  };
}

function orderBody(order: TemporaryKeyOrder): TemporaryKeyRequest {
  const { min, max } = KEY_TTL_SECONDS;
  const { ttlSeconds: ttl, clientRef } = order;
  if (order.type !== 'batch' && order.type !== 'rt') throw refuse('type must be batch or rt');
  if (!Number.isInteger(ttl) || ttl < min || ttl > max) {
    throw refuse(`ttl must be a whole number of seconds from ${min} to ${max}`);
  }
  if (clientRef === undefined) return { ttl };
  if (order.type === 'rt') throw refuse('client_ref has no effect on rt keys');
  if (clientRef === '') throw refuse('client_ref must not be empty');
  return { ttl, client_ref: clientRef };
}

function readKey(answer: unknown): TemporaryKey {
  const { key_value: value, apikey_id: id } = (answer ?? {}) as Record<string, unknown>;
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new SpeechError('invalid-response', OPERATION, 'the answer holds no key_value');
  }
  return { value, id: typeof id === 'string' ? id : null };
}

function refuse(text: string): SpeechError {
  return new SpeechError('invalid-request', OPERATION, text);
}
