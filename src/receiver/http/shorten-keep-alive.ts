import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node keeps the answer that a connection is busy with here, in every release; no type names it. */
type Connection = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Closes the connection when nothing comes on it for `ms` after this answer, in place of the server's keep-alive
 * time-out, which is minutes long for the sake of balancers. To be called before the answer is written. The next request
 * on the connection ends it, as it ends the server's own.
 */
export function shortenKeepAlive(response: ServerResponse, ms: number): void {
  const connection = response.socket as Connection | null;
  // Node would promise the server's own time-out in a Keep-Alive header. `Connection: close` takes its place where needed.
  response.setHeader('connection', 'keep-alive');
  response.once('finish', () => {
    // Node's own listener came first: it has set the usual time-out, or begun with the next answer that is due.
    if (connection?._httpMessage === null) connection.setTimeout(ms);
  });
}
