import type { Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { ProxyError } from './proxy-error.js';
import { type OutboundPlace, type ProxySettings, placeOf, proxyFor } from './proxy-settings.js';

interface OutboundOptions {
  /** Milliseconds to a connected socket; with a proxy, of each step towards it. */
  readonly timeout: number;
  readonly proxies: ProxySettings;
  /** Certificates, in PEM, that are trusted instead of Node's, which `NODE_EXTRA_CA_CERTS` extends. */
  readonly ca?: Buffer | undefined;
}

/**
 * Opens every outgoing connection of the process: a `connect` of undici's `Agent`, `Pool` and `Client`, and of `httpAgents`. Where the
 * settings name a proxy, it is asked for a tunnel (CONNECT), also to a place without TLS, so that a proxy never sees a request.
 * undici's own `EnvHttpProxyAgent` knows no ranges of addresses and serves no other client.
 *
 * A failed connection rejects with a `ProxyError`, or with the error of the network.
 */
export function createConnect({ timeout, proxies, ca }: OutboundOptions): buildConnector.connector {
  const options = { timeout, allowH2: false, ...(ca && { ca }) };
  const direct = buildConnector(options);
  return (target, done) => {
    try {
      const place = placeOf(target);
      const proxy = proxyFor(proxies, place);
      if (proxy === null) return direct(target, done);
      tunnel(proxy, place, options).then(
        (httpSocket) => (place.secure ? direct({ ...target, httpSocket }, done) : done(null, httpSocket)),
        (error: Error) => done(error, null),
      );
    } catch (error) {
      done(error as Error, null);
    }
  };
}

/**
 * A connection to the place through the proxy.
 *
 * @throws ProxyError
 */
async function tunnel(
  proxy: URL,
  place: OutboundPlace,
  connect: buildConnector.BuildOptions & { readonly timeout: number },
): Promise<Socket> {
  const { origin, host } = proxy;
  const hostname = place.hostname.includes(':') ? `[${place.hostname}]` : place.hostname;
  const path = `${hostname}:${place.port}`;
  const client = new Client(origin, { connect, headersTimeout: connect.timeout });
  try {
    const { statusCode, socket } = await client.connect({ path, headers: { host: path, ...signIn(proxy) } });
    if (statusCode >= 200 && statusCode <= 299) return socket as Socket;
    socket.destroy();
    throw new ProxyError('PROXY_REFUSED', `${host} answered ${statusCode} to CONNECT ${path}`);
  } catch (error) {
    if (error instanceof ProxyError) throw error;
    throw new ProxyError('PROXY_UNREACHABLE', `${host}: ${(error as Error).message}`, { cause: error });
  } finally {
    // A connection that became a tunnel no longer belongs to the client.
    void client.destroy();
  }
}

/** Credentials stand in a URL percent-encoded. */
function signIn({ username, password }: URL): { 'proxy-authorization'?: string } {
  if (username === '') return {};
  const text = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
