import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createConnect } from '../../lib/outbound/connect.js';
import { httpAgents } from '../../lib/outbound/http-agents.js';
import type { ProxySettings } from '../../lib/outbound/proxy-settings.js';
import { isJsonObject, parseJson } from '../../lib/text/parse-json.js';

export interface PublicRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** Complete header lines. */
  readonly headers: readonly string[];
  /** Body size to announce with `Expect: 100-continue`; the body is never sent. Default: an empty body. */
  readonly announce?: number;
  /** Milliseconds to the response. */
  readonly timeout: number;
  readonly proxies: ProxySettings;
}

export interface PublicAnswer {
  readonly status: number;
  readonly location: string | null;
  /** The receiver's problem document or acknowledgement; null for responses of something else. */
  readonly own: Readonly<Record<string, unknown>> | null;
}

/** Characters that are read; the receiver's responses are shorter. */
const LARGEST = 64 * 1024;

/** One request on a new connection. Does not follow redirects. Rejects when there is no response. */
export async function askPublic(wanted: PublicRequest): Promise<PublicAnswer> {
  const outgoing = open(wanted);
  outgoing.on('error', () => {});
  const timer = setTimeout(
    () => outgoing.destroy(new Error(`no answer within ${wanted.timeout / 1000} s`)),
    wanted.timeout,
  );
  try {
    if (wanted.announce === undefined) outgoing.end();
    else outgoing.flushHeaders();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode ?? 0,
      location: response.headers.location ?? null,
      own: ownDocument(await beginningOf(response)),
    };
  } finally {
    clearTimeout(timer);
    outgoing.destroy();
  }
}

function open({ url, method, headers, announce, timeout, proxies }: PublicRequest): ClientRequest {
  const agents = httpAgents(createConnect({ timeout, proxies }), {});
  const outgoing =
    url.protocol === 'https:'
      ? httpsRequest(url, { method, agent: agents.https })
      : httpRequest(url, { method, agent: agents.http });
  for (const line of headers) {
    const colon = line.indexOf(':');
    outgoing.setHeader(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  outgoing.setHeader('User-Agent', 'transcript-receiver-doctor');
  outgoing.setHeader('Content-Length', announce ?? 0);
  if (announce !== undefined) outgoing.setHeader('Expect', '100-continue');
  return outgoing;
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > LARGEST) break;
  }
  return text;
}

function ownDocument(text: string): Record<string, unknown> | null {
  const value = parseJson(text);
  if (!isJsonObject(value)) return null;
  return typeof value.code === 'string' || typeof value.deliveryId === 'string' ? value : null;
}
