import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** False when the connection ended before the body did. */
  readonly whole: boolean;
}

export interface RecordingServer {
  readonly url: string;
  /** In the order in which their bodies ended. */
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** A receiver that keeps what it is sent and answers `status` of the request's number, counted from 0. */
export async function recordingServer(
  status: (index: number, request: RecordedRequest) => number | Promise<number> = () => 200,
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = http.createServer({ keepAliveTimeout: 0 }, async (incoming, response) => {
    const chunks: Buffer[] = [];
    let whole = true;
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      whole = false;
    }
    const request = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      body: Buffer.concat(chunks),
      whole,
    };
    requests.push(request);
    response.writeHead(await status(requests.length - 1, request)).end('noted');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Parts of a form, split without the product's parser, which is under test. */
export function partsOf(request: RecordedRequest): { head: string; body: Buffer }[] {
  const boundary = /boundary=([^;]+)/.exec(request.headers['content-type'] ?? '')?.[1] ?? '';
  const whole = `\r\n${request.body.toString('latin1')}`;
  const pieces = whole.split(`\r\n--${boundary}`).slice(1);
  return pieces.slice(0, -1).map((piece) => {
    const [head = '', ...rest] = piece.slice(2).split('\r\n\r\n');
    return { head, body: Buffer.from(rest.join('\r\n\r\n'), 'latin1') };
  });
}
