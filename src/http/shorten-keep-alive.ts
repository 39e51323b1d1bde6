import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node keeps the response that a connection is busy with in this property, which no type declares. */
type Connection = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Closes the connection after `ms` without a request, instead of after the server's keep-alive time-out, which is minutes
 * long because of load balancers. Must be called before the response is written. The next request on the connection
 * restores the server's own time-out.
 */
export function shortenKeepAlive(response: ServerResponse, ms: number): void {
  const connection = response.socket as Connection | null;
  // Else Node announces the server's own time-out in a Keep-Alive header. `Connection: close` replaces it where needed.
  response.setHeader('connection', 'keep-alive');
  response.once('finish', () => {
    // Node's own listener ran first: it has set the usual time-out, or begun the next response.
    if (connection?._httpMessage === null) connection.setTimeout(ms);
  });
}
