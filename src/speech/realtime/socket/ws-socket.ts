import { WebSocket } from 'ws';
import { adaptWebSocket, type SocketConnector, UpgradeRefused, type WebSocketLike } from './socket.js';

/** Larger than any message of the service by far; a hostile one must not fill the memory. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Connects with the library `ws`, for servers. Follows no redirect: a redirect could take the key, or a
 * session pinned to a region, elsewhere.
 */
export const connectWithWs: SocketConnector = ({ url, headers, signal }) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = new WebSocket(url, {
      headers,
      // Audio hardly compresses, and deflate contexts cost more memory than the audio in flight.
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    const adapted = adaptWebSocket(socket as WebSocketLike);
    const giveUp = (): void => {
      reject(signal.reason);
      socket.terminate();
    };
    const done = (): void => signal.removeEventListener('abort', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('open', () => {
      done();
      resolve(adapted);
    });
    socket.once('unexpected-response', (_request, response) => {
      done();
      reject(new UpgradeRefused(response.statusCode ?? 0));
      socket.terminate();
    });
    socket.once('error', (error) => {
      done();
      reject(error);
    });
  });
