import { adaptWebSocket, type SocketConnector, type WebSocketLike } from './socket.js';

/**
 * Connects with a WHATWG WebSocket, such as a browser's. It sends no headers, so the credential must be a temporary `rt` key, and it
 * does not report the HTTP status of a rejected upgrade.
 *
 * @example
 * const connector = connectWithWebSocket(WebSocket);
 */
export function connectWithWebSocket(WebSocketClass: new (url: string) => WebSocketLike): SocketConnector {
  return ({ url, headers, signal }) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (Object.keys(headers).length > 0) {
        throw new TypeError('A WebSocket of this kind sends no headers: use a temporary key (jwt)');
      }
      const socket = new WebSocketClass(url.href);
      const adapted = adaptWebSocket(socket);
      const giveUp = (): void => {
        reject(signal.reason);
        socket.close();
      };
      const done = (): void => signal.removeEventListener('abort', giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      socket.addEventListener('open', () => {
        done();
        resolve(adapted);
      });
      socket.addEventListener('close', ({ code }) => {
        done();
        reject(new Error(`connection closed with ${code} before it was open`));
      });
    });
}
