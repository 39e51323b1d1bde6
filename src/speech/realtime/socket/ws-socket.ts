import { WebSocket } from 'ws';
import { createConnect } from '../../../lib/outbound/connect.js';
import { type HttpAgents, httpAgents } from '../../../lib/outbound/http-agents.js';
import { NO_PROXIES, type ProxySettings } from '../../../lib/outbound/proxy-settings.js';
import {
  adaptWebSocket,
  type RealtimeSocket,
  type SocketConnector,
  type SocketRequest,
  UpgradeRefused,
  type WebSocketLike,
} from './socket.js';

/** Far larger than any message of the service; a hostile one must not fill the memory. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Milliseconds to a connected socket; the handshake has a limit of its own. */
const CONNECT_TIMEOUT = 10_000;

/**
 * Connects with the library `ws`, for servers. Follows no redirect: a redirect could take the key, or a
 * session pinned to a region, elsewhere.
 */
export function connectWithWs(proxies: ProxySettings = NO_PROXIES): SocketConnector {
  const connect = createConnect({ timeout: CONNECT_TIMEOUT, proxies });
  return (request) => openSocket(request, httpAgents(connect, {}));
}

function openSocket(
  { url, headers, signal }: SocketRequest,
  { http, https }: HttpAgents,
): Promise<RealtimeSocket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = new WebSocket(url, {
      headers,
      agent: url.protocol === 'wss:' ? https : http,
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
}
