import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { Webhook } from 'standardwebhooks';
import { Agent, type Dispatcher } from 'undici';
import { createConnect } from '../../lib/outbound/connect.js';
import type { ProxySettings } from '../../lib/outbound/proxy-settings.js';
import { terminalLine } from '../../lib/text/terminal-text.js';
import { abortAfter } from '../../lib/time/abort-after.js';
import { parseRetryAfter } from '../../lib/time/retry.js';
import type { Attempt } from '../dead-event.js';
import type { ReceiverEvent } from '../receiver-event.js';
import type { Subscriber } from '../subscriber.js';
import { eventBody } from './event-body.js';

/** Result of one request. */
export interface SendResult extends Attempt {
  /** The answer was 2xx. */
  readonly delivered: boolean;
  /** Pause that the subscriber asks for, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
}

export type Endpoint = ReturnType<typeof createEndpoint>;

/** Bytes of a response that are read so that its connection can be reused. */
const RESPONSE_BYTES = 64 * 1024;
/** Characters of a response that are kept for operators: it often names the fault. */
const ANSWER_LENGTH = 200;
const CONNECT_TIMEOUT = 10_000;
/** Milliseconds. Standard Webhooks asks senders to wait 15 to 30 s. */
const REQUEST_TIMEOUT = 15_000;

/** Sends events to one subscriber, with a bounded number of requests in flight. */
export function createEndpoint(subscriber: Subscriber, proxies: ProxySettings) {
  const { maxInFlight, requestTimeout = REQUEST_TIMEOUT } = subscriber;
  const agent = new Agent({
    connections: maxInFlight,
    pipelining: 1,
    allowH2: false,
    connect: createConnect({ timeout: Math.min(CONNECT_TIMEOUT, requestTimeout), proxies }),
    headersTimeout: requestTimeout,
    bodyTimeout: requestTimeout,
    maxHeaderSize: 32 * 1024,
  });
  const limit = pLimit(maxInFlight);

  async function sendNow(event: ReceiverEvent, signal: AbortSignal): Promise<SendResult> {
    const at = new Date().toISOString();
    try {
      const post = (bounded: AbortSignal) => postEvent(agent, subscriber, event, bounded);
      return { at, ...(await abortAfter(requestTimeout, signal, post)) };
    } catch (error) {
      const code = signal.aborted ? 'aborted' : errorCode(error);
      return { at, delivered: false, status: null, error: code, retryAfterMs: null };
    }
  }

  return {
    /** Makes one request. Never rejects: what fails is in the result; after an abort its `error` is `aborted`. */
    send: (event: ReceiverEvent, signal: AbortSignal) => limit(() => sendNow(event, signal)),
    /** Closes all connections; requests in flight are aborted. */
    close: () => agent.destroy(),
  };
}

/** undici follows no redirects by default: a redirect is a failure like any other. */
async function postEvent(
  dispatcher: Dispatcher,
  { url, secrets, format }: Subscriber,
  event: ReceiverEvent,
  signal: AbortSignal,
): Promise<Omit<SendResult, 'at'>> {
  const { contentType, bytes: body } = eventBody(event, format);
  const { origin, pathname, search } = new URL(url);
  const response = await dispatcher.request({
    origin,
    path: pathname + search,
    method: 'POST',
    headers: {
      'content-type': contentType,
      'user-agent': 'transcript-receiver',
      accept: '*/*',
      ...signatures(event.id, body, secrets),
    },
    body,
    signal,
  });
  const { statusCode: status, headers } = response;
  const delivered = status >= 200 && status < 300;
  const answer = delivered ? '' : await beginningOf(response.body);
  // Only the status counts, not a body that is truncated or does not end.
  await response.body.dump({ limit: RESPONSE_BYTES, signal }).catch(() => undefined);
  return {
    delivered,
    status,
    error: null,
    ...(answer !== '' && { answer }),
    retryAfterMs: parseRetryAfter(headers['retry-after'], Date.now()),
  };
}

/** The headers of Standard Webhooks: a signature with each secret. */
function signatures(id: string, body: Buffer, secrets: readonly string[]): Record<string, string> {
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}

/** Beginning of the answer as one line of text; empty when it has none. The rest stays unread. */
async function beginningOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= 4 * ANSWER_LENGTH) break;
    }
  } catch {
    // Keeps the bytes before the error.
  }
  return terminalLine(Buffer.concat(chunks).toString()).slice(0, ANSWER_LENGTH);
}

/** Messages can hold addresses; codes cannot. */
function errorCode(error: unknown): string {
  const { name, code, cause } = (error ?? {}) as { name?: unknown; code?: unknown; cause?: unknown };
  if (name === 'TimeoutError' || (typeof code === 'string' && /TIMEDOUT|TIMEOUT/.test(code)))
    return 'timeout';
  // Codes of the system, which operators know, but not undici's own.
  if (typeof code === 'string' && /^(?!UND_)[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code;
  return cause === undefined ? 'network' : errorCode(cause);
}
