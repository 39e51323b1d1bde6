import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { connect, createServer } from 'node:tls';

const CERTIFICATES = new URL('certificates/', import.meta.url);

/** Ends TLS and passes the bytes on over a connection of its own, as a balancer on layer 4 does. */
export interface TlsProxy {
  /** `localhost:port`. */
  readonly host: string;
  /** A new connection to the target. */
  open(): Promise<Socket>;
  close(): Promise<void>;
}

export async function startTlsProxy(target: string): Promise<TlsProxy> {
  const { hostname, port } = new URL(target);
  const cert = readFileSync(new URL('first.cert.pem', CERTIFICATES));
  const key = readFileSync(new URL('first.key.pem', CERTIFICATES));
  const sockets = new Set<Socket>();
  const server = createServer({ cert, key }, (socket) => {
    const onward = connectTcp(Number(port), hostname);
    pipeline(socket, onward, socket, () => {});
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    async open() {
      const { port } = server.address() as AddressInfo;
      const socket = connect({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' });
      await once(socket, 'secureConnect');
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
