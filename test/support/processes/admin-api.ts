import supertest, { type Response, type Test } from 'supertest';
import { contractFault } from '../answer-contract.js';
import type { RunningService } from './running-service.js';

/** Requests to the admin API of a service, with its token; paths are below `/admin/api`. */
export type AdminApi = Readonly<Record<'get' | 'head' | 'post' | 'delete', (path: string) => Test>>;

/**
 * Every response is checked against its route's schema, so that a change without its schema fails. JSON is parsed into
 * `body`, everything else is a Buffer there; `text` is always the text.
 *
 * @param token null sends none
 */
export function adminApi(
  { adminUrl, adminToken }: Pick<RunningService, 'adminUrl' | 'adminToken'>,
  token: string | null = adminToken,
): AdminApi {
  const agent = supertest.agent(`${adminUrl}/admin/api`);
  if (token !== null) agent.set('authorization', `Bearer ${token}`);
  const request = (method: keyof AdminApi) => (path: string) =>
    agent[method](path)
      .buffer(true)
      .parse(parseBody)
      .expect((response) => checkContract(method.toUpperCase(), path, response));
  return { get: request('get'), head: request('head'), post: request('post'), delete: request('delete') };
}

function checkContract(method: string, path: string, { status, headers, body }: Response): void {
  const fault = contractFault(method, path, { status, type: headers['content-type'] ?? '', json: body });
  if (fault !== null) throw new Error(fault);
}

/** superagent's parsers depend on the content type, and keep no bytes of parsed content. */
function parseBody(response: Response, done: (error: Error | null, body: unknown) => void): void {
  const chunks: Buffer[] = [];
  const incoming = response as unknown as NodeJS.ReadableStream & { text: string };
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', (error) => done(error, null));
  incoming.on('end', () => {
    const bytes = Buffer.concat(chunks);
    incoming.text = bytes.toString();
    done(null, /json/.test(response.headers['content-type'] ?? '') ? parsedJson(incoming.text) : bytes);
  });
}

/** Null for invalid JSON: an artefact may be declared as JSON without being it. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Encodes the form as browsers do: superagent's own forms do not escape names. */
export async function sendForm(request: Test, form: FormData): Promise<Response> {
  const encoded = new globalThis.Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  return request.set('content-type', contentType).send(Buffer.from(await encoded.arrayBuffer()));
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
