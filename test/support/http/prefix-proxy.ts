import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A balancer that serves a target below a path prefix, and nothing else. */
export interface PrefixProxy {
  /** With the prefix, without a trailing slash. */
  readonly url: string;
  /** Paths that were asked for outside the prefix. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

export async function startPrefixProxy(target: string, prefix: string): Promise<PrefixProxy> {
  const strays: string[] = [];
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, answer) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) {
      strays.push(url);
      answer.writeHead(404).end();
      return;
    }
    const onward = request(`${target}${url.slice(prefix.length)}`, { method, headers }, (received) => {
      if (answer.destroyed) return void received.destroy();
      answer.writeHead(received.statusCode ?? 502, received.headers);
      pipeline(received, answer, () => {});
    });
    pipeline(incoming, onward, (error) => error && answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    strays,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
