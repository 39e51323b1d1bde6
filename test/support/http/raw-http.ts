import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A client that sends exactly the given bytes, also those that no HTTP library would send. */
export interface RawClient {
  readonly socket: Socket;
  /** Resolves when the bytes were handed to the kernel, or the other side hung up. */
  send(bytes: string | Buffer): Promise<void>;
  /** The next answer; rejects when the connection ends before it is whole. `100 Continue` counts as one. */
  answer(): Promise<RawAnswer>;
  close(): void;
}

/** @param opened a connection that is open already, such as one over TLS */
export async function rawClient(url: string, opened?: Socket): Promise<RawClient> {
  const socket = opened ?? (await connectTo(url));
  let received = Buffer.alloc(0);
  let ended: Error | null = null;
  let look = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    look();
  });
  const end = (error?: Error): void => {
    ended ??= error ?? new Error(`the connection ended after ${JSON.stringify(received.toString())}`);
    look();
  };
  socket.on('error', end);
  socket.on('close', () => end());

  return {
    socket,
    send: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed) return resolve();
        socket.write(bytes, () => resolve());
      }),
    answer: () =>
      new Promise((resolve, reject) => {
        look = () => {
          const answer = takeAnswer(received);
          if (answer !== null) {
            received = received.subarray(answer.length);
            look = () => {};
            resolve(answer);
          } else if (ended !== null) {
            reject(ended);
          }
        };
        look();
      }),
    close: () => socket.destroy(),
  };
}

async function connectTo(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

function takeAnswer(received: Buffer): (RawAnswer & { length: number }) | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number(statusLine.split(' ')[1]);
  const length = headEnd + 4 + (status === 100 ? 0 : Number(headers['content-length'] ?? 0));
  if (received.length < length) return null;
  return { status, headers, body: received.subarray(headEnd + 4, length).toString(), length };
}
