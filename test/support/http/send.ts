import { once } from 'node:events';
import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface SendOptions {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** The whole body; without it the caller writes to `outgoing` and ends it. */
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  /** Address to send from; the whole of 127.0.0.0/8 is this machine's. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Fields of a JSON answer; empty for any other. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Sending {
  readonly outgoing: ClientRequest;
  /** Rejects when the connection ended without an answer; an answer that was read counts whatever came after it. */
  readonly answer: Promise<Answer>;
}

/** Sends a callback like a plain client, and reads the response while it is still writing. */
export function send(base: string, { path, headers, body, agent, from }: SendOptions): Sending {
  const outgoing = request(base + path, {
    method: 'POST',
    headers: { ...headers },
    agent: agent ?? false,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  const answer = readAnswer(outgoing);
  // `answer` reports a failure; a later reset of the connection is of no interest.
  outgoing.on('error', () => {});
  answer.catch(() => {});
  if (body !== undefined) outgoing.end(body);
  return { outgoing, answer };
}

async function readAnswer(outgoing: ClientRequest): Promise<Answer> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const said = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, json: parsed(said) };
}

function parsed(said: string): Record<string, unknown> {
  return said.startsWith('{') ? (JSON.parse(said) as Record<string, unknown>) : {};
}
