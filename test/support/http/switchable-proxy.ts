import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A proxy with a fixed address whose target can change, as a balancer in front of restarting receivers. */
export interface SwitchableProxy {
  readonly url: string;
  /** Where requests go; null answers 503 to all, as a balancer without a healthy backend does. */
  setTarget(to: string | null): void;
  close(): Promise<void>;
}

export async function startSwitchableProxy(): Promise<SwitchableProxy> {
  let target: string | null = null;
  const agent = new http.Agent({ keepAlive: true });
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (target === null) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    const { method, headers, url = '/' } = request;
    const onward = http.request(new URL(url, target), { method, headers, agent });
    // A failed upload shows in the response, or in its absence.
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
    setTarget(to) {
      target = to;
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
