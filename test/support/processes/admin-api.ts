import { contractFault } from '../answer-contract.js';
import type { RunningService } from './running-service.js';

export interface ApiCall {
  readonly method?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: NonNullable<RequestInit['body']>;
  readonly headers?: Record<string, string>;
  /** Null sends none. Default: the service's own. */
  readonly token?: string | null;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came, whatever it is
  readonly json: any;
}

export type AdminApi = (path: string, call?: ApiCall) => Promise<ApiAnswer>;

/**
 * Speaks to the admin API of a service; `path` is below `/admin/api`. Throws when an answer breaks the contract of
 * its route: an answer that changes without its schema fails.
 */
export function adminApi(service: Pick<RunningService, 'adminUrl' | 'adminToken'>): AdminApi {
  return async (path, { method = 'GET', json, body, headers = {}, token = service.adminToken } = {}) => {
    const response = await fetch(`${service.adminUrl}/admin/api${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const { status, headers: given } = response;
    const answered = parsed(bytes);
    const fault = contractFault(method, path, {
      status,
      type: given.get('content-type') ?? '',
      json: answered,
    });
    if (fault !== null) throw new Error(fault);
    return { status, headers: given, bytes, json: answered };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at what came, whatever it is
function parsed(bytes: Buffer): any {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

/** Sends a callback as the speech service would. */
export async function sendCallback(
  service: Pick<RunningService, 'publicUrl'>,
  query: string,
  body?: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
  source = 'default',
) {
  const response = await fetch(`${service.publicUrl}/callbacks/${source}?${query}`, {
    method: 'POST',
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> };
}
