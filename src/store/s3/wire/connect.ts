import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getProxyForUrl } from 'proxy-from-env';
import { buildConnector, Client } from 'undici';
import { StoreError } from '../../object-store.js';
import { noAnswer, S3Failure } from '../s3-failure.js';

/**
 * Opens the connections of all requests to S3: for `https` through the proxy that the environment names (`HTTPS_PROXY`, `NO_PROXY`),
 * if it does.
 *
 * @param timeout in milliseconds
 * @param caBundle file with the certificates that are trusted instead of Node's
 * @throws StoreError when the file of certificates cannot be read
 */
export function createConnect(
  timeout: number,
  caBundle: string | null | undefined,
): buildConnector.connector {
  const options = { timeout, allowH2: false, ...(caBundle && { ca: certificatesIn(caBundle) }) };
  const direct = buildConnector(options);
  return (place, done) => {
    const proxy = place.protocol === 'https:' ? getProxyForUrl(`https://${place.host}`) : '';
    if (proxy === '') return direct(place, done);
    tunnel(proxy, place, options).then(
      (httpSocket) => direct({ ...place, httpSocket }, done),
      (error: Error) => done(error, null),
    );
  };
}

function certificatesIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = (error as Error).message;
    throw new StoreError('open', `the CA bundle (AWS_CA_BUNDLE) cannot be read: ${reason}`, { cause: error });
  }
}

/**
 * A connection to the place through the proxy.
 *
 * @throws S3Failure, which names the proxy without its credentials
 */
async function tunnel(
  address: string,
  place: buildConnector.Options,
  connect: { readonly timeout: number; readonly ca?: Buffer },
): Promise<Socket> {
  const { origin, username, password, host } = proxyAt(address);
  const client = new Client(origin, { connect, headersTimeout: connect.timeout });
  const path = `${place.hostname}:${place.port || 443}`;
  const headers = {
    host: path,
    ...(username !== '' && { 'proxy-authorization': basic(username, password) }),
  };
  try {
    const { statusCode, socket } = await client.connect({ path, headers });
    if (statusCode >= 200 && statusCode <= 299) return socket as Socket;
    socket.destroy();
    throw noAnswer('ProxyRefused', `${host} answered ${statusCode} to CONNECT ${path}`);
  } catch (error) {
    if (error instanceof S3Failure) throw error;
    throw noAnswer('ProxyUnreachable', `${host}: ${(error as Error).message}`);
  } finally {
    // A connection that became a tunnel is not the client's any more.
    void client.destroy();
  }
}

function proxyAt(address: string): URL {
  const url = URL.parse(address);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw noAnswer('ProxyUnknown', 'its value has to begin with http:// or https://');
}

/** @param username and password, as they stand in a URL */
function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

/** The SDK's connections, opened in the same way. */
export class StoreAgent extends Agent {
  readonly #connect: buildConnector.connector;

  constructor(connect: buildConnector.connector, maxSockets: number) {
    super({ keepAlive: true, maxSockets });
    this.#connect = connect;
  }

  override createConnection(
    { host, port, servername }: { host?: string; port?: number; servername?: string },
    done: (error: Error | null, socket: Duplex) => void,
  ): null {
    const place = { hostname: host ?? '', host: `${host}:${port}`, protocol: 'https:', port: `${port}` };
    this.#connect(
      servername === undefined ? place : { ...place, servername },
      (...[error, socket]: Parameters<buildConnector.Callback>) => done(error, socket as Socket),
    );
    return null;
  }
}
