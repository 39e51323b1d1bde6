import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** A proxy on loopback that answers CONNECT and nothing else. */
export interface ConnectProxy {
  readonly url: Promise<string>;
  /** What it was asked to connect to, as `host:port`. */
  readonly targets: readonly string[];
  close(): Promise<void>;
}

/**
 * @param opened called with each connection that it opens
 * @param credentials `user:password` that it asks for; null for none
 */
export function startProxy(
  opened: (connection: Socket) => void = () => undefined,
  credentials: string | null = null,
): ConnectProxy {
  const expected = credentials === null ? undefined : `Basic ${btoa(credentials)}`;
  const sockets = new Set<Socket>();
  const targets: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('connect', ({ headers, url }, client, head) => {
    if (expected !== undefined && headers['proxy-authorization'] !== expected)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    const [, hostname, port] = /^\[?(.*?)\]?:(\d+)$/.exec(url ?? '') ?? [];
    targets.push(url ?? '');
    const server = connect(Number(port), hostname, () => {
      opened(server);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.write(head);
      pipeline(client, server, client, () => undefined);
    });
    sockets.add(server);
    server.on('error', () => client.destroy());
  });
  const url = new Promise<string>((listening) => {
    server.listen(0, '127.0.0.1', () => {
      listening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
  return {
    url,
    targets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
