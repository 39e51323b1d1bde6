import type { Dispatcher } from 'undici';
import { parseJson } from '../../lib/text/parse-json.js';
import { readBeginning } from '../../lib/text/read-beginning.js';
import type { Clock } from '../../lib/time/clock.js';
import { parseRetryAfter } from '../../lib/time/retry.js';
import { SpeechError, type SpeechErrorKind } from '../speech-error.js';
import { firstValue } from './download.js';

const ERROR_BODY_LIMIT = 64 * 1024;
const MAX_MESSAGE_LENGTH = 300;

const KINDS: Readonly<Record<number, SpeechErrorKind>> = {
  401: 'unauthorised',
  403: 'forbidden',
  404: 'not-found',
  408: 'timeout',
  410: 'gone',
  429: 'rate-limited',
};

/** The error for a response that is not 2xx. `secret` is removed from its text. */
export async function responseError(
  operation: string,
  response: Dispatcher.ResponseData,
  secret: string,
  clock: Clock,
): Promise<SpeechError> {
  const { statusCode: status, headers } = response;
  const html = /html/i.test(firstValue(headers['content-type']) ?? '');
  const said = html ? undefined : messageIn(await textOf(response.body), secret);
  if (html) response.body.on('error', () => {}).destroy();
  const retryAfterMs = parseRetryAfter(headers['retry-after'], clock.now());
  const details = {
    status,
    ...(said === undefined ? {} : { said }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  };
  return new SpeechError(kindOf(status, html), operation, describe(status, html, said, headers), details);
}

/** An HTML page with 404 or 410 comes from a proxy: it proves nothing about a job. */
function kindOf(status: number, html: boolean): SpeechErrorKind {
  if (status < 200) return 'invalid-response';
  if (status < 400) return 'redirect';
  if (status >= 500) return 'unavailable';
  if (html && (status === 404 || status === 410)) return 'invalid-response';
  return KINDS[status] ?? 'invalid-request';
}

function describe(
  status: number,
  html: boolean,
  said: string | undefined,
  headers: Dispatcher.ResponseData['headers'],
): string {
  if (status >= 300 && status < 400) {
    return `answered ${status}, a redirect${hostOf(firstValue(headers.location))}; redirects are not followed`;
  }
  if (html) return `answered ${status} with a web page, as proxies do`;
  return `answered ${status}${said === undefined ? '' : ` (${said})`}`;
}

/** Host only: redirect addresses can hold secrets. */
function hostOf(location: string | undefined): string {
  return location !== undefined && URL.canParse(location) ? ` to ${new URL(location).host}` : '';
}

/** Empty when the body cannot be read: the status suffices. */
async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  return readBeginning(body, ERROR_BODY_LIMIT).then(String, () => '');
}

/** `{code, error, detail}` of the jobs API, `{code, message}` of the key service; other documents have no message. */
function messageIn(text: string, secret: string): string | undefined {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message, detail } = body as Record<string, unknown>;
  const words = [error, message, detail].filter((word) => typeof word === 'string' && word !== '').join(': ');
  if (words === '') return undefined;
  return (secret === '' ? words : words.replaceAll(secret, '[secret]'))
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_MESSAGE_LENGTH);
}
