import { type HostAndPort, parseNoProxy } from './no-proxy.js';
import { ProxyError } from './proxy-error.js';

/** The proxies of this process for outgoing connections: the values of the variables, empty for none. */
export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  readonly noProxy: string;
}

export const NO_PROXIES: ProxySettings = { http: '', https: '', noProxy: '' };

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; as in curl, the name in lower case comes first.
 *
 * @example
 * const clients = createSpeechClients({ apiKey, regions, proxies: readProxySettings(process.env) });
 */
export function readProxySettings(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string) => (env[name] || env[name.toUpperCase()] || '').trim();
  return { http: read('http_proxy'), https: read('https_proxy'), noProxy: read('no_proxy') };
}

export interface OutboundPlace extends HostAndPort {
  /** Whether the connection uses TLS, which decides between HTTPS_PROXY and HTTP_PROXY. */
  readonly secure: boolean;
}

/**
 * The proxy that a connection goes through; null for a direct one.
 *
 * @throws ProxyError `PROXY_INVALID`
 */
export function proxyFor(settings: ProxySettings, place: OutboundPlace): URL | null {
  const value = place.secure ? settings.https : settings.http;
  if (value === '' || parseNoProxy(settings.noProxy).has(place)) return null;
  // curl takes an address without a scheme as well.
  const proxy = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (proxy?.hostname && (proxy.protocol === 'http:' || proxy.protocol === 'https:')) return proxy;
  const name = place.secure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  throw new ProxyError('PROXY_INVALID', `${name} has to be an address that begins with http:// or https://`);
}

/** The destination of a URL (http, https, ws, wss) or of a connection target of undici. */
export function placeOf(target: Pick<URL, 'protocol' | 'hostname' | 'port'>): OutboundPlace {
  const secure = target.protocol === 'https:' || target.protocol === 'wss:';
  return {
    secure,
    hostname: target.hostname.replace(/^\[|\]$/g, ''),
    port: Number(target.port || (secure ? 443 : 80)),
  };
}
