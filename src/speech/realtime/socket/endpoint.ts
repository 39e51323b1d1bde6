import { RealtimeConfigError, type SessionConfigFault } from '../realtime-error.js';
import { REALTIME_REGIONS, type RealtimeRegion, type SessionService } from '../realtime-region.js';

const PATHS: Record<SessionService, string> = { realtime: '/v2', agent: '/v2/agent' };

export interface EndpointOptions {
  /** Host of each region in use: `host`, `host:port`, or an origin such as `wss://host`. */
  readonly hosts: Readonly<Partial<Record<RealtimeRegion, string>>>;
  /** Pins the region, e.g. for data residency: no other is ever connected. */
  readonly region?: RealtimeRegion;
  /** Default `realtime`. */
  readonly service?: SessionService;
  /** Permits `ws://` beyond loopback, where key and audio travel readable. Default false. */
  readonly allowInsecure?: boolean;
}

export interface SessionAddress {
  readonly region: RealtimeRegion;
  readonly url: URL;
}

/**
 * The addresses to try, in order: the pinned region alone, else the global host first and then every other
 * region with a host. Throws `RealtimeConfigError` for hosts that are missing or unusable.
 */
export function sessionAddresses(options: EndpointOptions): SessionAddress[] {
  const regions = options.region === undefined ? REALTIME_REGIONS : [options.region];
  const faults: SessionConfigFault[] = [];
  const addresses: SessionAddress[] = [];
  for (const region of regions) {
    const host = options.hosts[region];
    if (host === undefined) continue;
    const url = addressOf(host, options);
    if (typeof url === 'string') faults.push({ path: `hosts.${region}`, expected: url });
    else addresses.push({ region, url });
  }
  if (faults.length === 0 && addresses.length === 0) {
    faults.push({
      path: `hosts.${options.region ?? 'global'}`,
      expected: 'the host of the region to connect',
    });
  }
  if (faults.length > 0) throw new RealtimeConfigError(faults);
  return addresses;
}

/** The address, or a description of the expected value. */
function addressOf(host: string, options: EndpointOptions): URL | string {
  const text = host.includes('://') ? host : `wss://${host}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  const bare = url !== null && ['', '/'].includes(url.pathname) && url.search === '' && url.username === '';
  if (url === null || !bare || !['ws:', 'wss:'].includes(url.protocol)) {
    return 'a host, host:port or a ws(s):// origin without path';
  }
  if (url.protocol === 'ws:' && options.allowInsecure !== true && !isLoopback(url.hostname)) {
    return 'wss:// beyond loopback, or allowInsecure';
  }
  url.pathname = PATHS[options.service ?? 'realtime'];
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
