import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A balancer in front of a receiver: its address stays while receivers come and go. */
export interface FrontDoor {
  readonly url: string;
  /** Where requests go; null answers 503 to all, as a balancer without a healthy backend does. */
  lead(to: string | null): void;
  close(): Promise<void>;
}

export async function frontDoor(): Promise<FrontDoor> {
  let target: string | null = null;
  const agent = new http.Agent({ keepAlive: true });
  const server = http.createServer((request, response) => {
    if (target === null) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    const { method, headers, url = '/' } = request;
    const onward = http.request(new URL(url, target), { method, headers, agent });
    // What becomes of the body is told by the answer, or by its absence.
    pipeline(request, onward, () => {});
    onward.on('error', () => response.destroy());
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to) {
      target = to;
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
