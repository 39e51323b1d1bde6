/** The part of an open WebSocket that a session uses. */
export interface RealtimeSocket {
  /** Bytes passed to `send` that are not yet written to the network. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  /** Starts the closing handshake. */
  close(code: number, reason: string): void;
  /** Cuts the connection where the platform can; else does what `close` does. */
  terminate(): void;
  /** Called once; events since the opening are delivered in order. */
  listen(events: SocketEvents): void;
}

export interface SocketEvents {
  message(text: string): void;
  /** A binary frame from the service, which the protocol does not allow. */
  binary(): void;
  /** Exactly once, last. 1006 when the connection was cut. */
  close(code: number, reason: string): void;
}

export interface SocketRequest {
  readonly url: URL;
  /** For the upgrade request; empty where a temporary key is in the address. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the handshake times out or the caller aborts. */
  readonly signal: AbortSignal;
}

/**
 * Opens a connection, or rejects: with `UpgradeRefused` where the HTTP status is known, else with any error.
 * When `signal` aborts, it must leave no socket behind.
 */
export type SocketConnector = (request: SocketRequest) => Promise<RealtimeSocket>;

/** The service answered the upgrade with an HTTP status instead of 101. */
export class UpgradeRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`upgrade refused with HTTP ${status}`);
    this.name = 'UpgradeRefused';
    this.status = status;
  }
}

/** The part of the WHATWG WebSocket that this client uses; `ws` has it too. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  /** Browsers accept no view of shared memory. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  terminate?(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void;
}

/**
 * Adapts a WebSocket; call it before the socket opens, so that no event is missed.
 *
 * @example
 * const socket = adaptWebSocket(new WebSocket(`wss://rt.example.com/v2?jwt=${key}`));
 */
export function adaptWebSocket(socket: WebSocketLike): RealtimeSocket {
  let events: SocketEvents | null = null;
  const early: ((events: SocketEvents) => void)[] = [];
  const deliver = (event: (to: SocketEvents) => void): void => {
    if (events === null) early.push(event);
    else event(events);
  };
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('message', ({ data }) =>
    deliver((to) => (typeof data === 'string' ? to.message(data) : to.binary())),
  );
  socket.addEventListener('close', ({ code, reason }) => deliver((to) => to.close(code, reason)));
  // `close` follows with the details; without a listener some platforms would throw.
  socket.addEventListener('error', () => {});
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    // A frame in shared memory is refused by the browser itself.
    send: (data) => socket.send(data as string | Uint8Array<ArrayBuffer>),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => (socket.terminate === undefined ? socket.close() : socket.terminate()),
    listen(to) {
      events = to;
      for (const event of early.splice(0)) event(to);
    },
  };
}
