import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request to the admin API after sign-in. */
export interface AdminCall {
  /** Decoded path parameters; a wildcard's segments are joined by `/`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
  /** Name of the token that was presented. */
  readonly actor: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What is answered as JSON. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** One operation of the admin API; the router mounts them, and a test holds them equal to the description. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/admin/api`, with `:name` and `*name`. */
  readonly path: string;
  /** `json` bodies are parsed before `handle`; of a `form` nothing has been read. Default `none`. */
  readonly takes?: 'json' | 'form' | 'none';
  /** Whether a download ticket opens it, too: for elements of the page that cannot send headers. */
  readonly ticket?: boolean;
  /** Null says that it has answered itself. Rejects with `Problem`. */
  readonly handle: (call: AdminCall) => Promise<AdminAnswer | null>;
}

export function ok(body: unknown, status = 200): AdminAnswer {
  return { status, body };
}
