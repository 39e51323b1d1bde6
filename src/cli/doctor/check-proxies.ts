import type { Destination } from '../../app/destinations.js';
import { parseNoProxy } from '../../lib/outbound/no-proxy.js';
import { type ProxySettings, placeOf, proxyFor } from '../../lib/outbound/proxy-settings.js';
import { errorMessage, type Finding, failed, passed, warned } from './finding.js';

/** Lists the proxy for each destination. Makes no request: the other checks do. */
export function checkProxies(proxies: ProxySettings, destinations: readonly Destination[]): Finding[] {
  const check = 'proxies';
  if (proxies.http === '' && proxies.https === '')
    return [passed(check, 'HTTPS_PROXY and HTTP_PROXY are not set: every connection is direct.')];
  try {
    return [passed(check, routesTo(destinations, proxies)), ...invalidEntries(proxies)];
  } catch (error) {
    return [failed(check, `${errorMessage(error)}.`, 'Write it as http://proxy.example.org:3128.')];
  }
}

/** @throws ProxyError */
function routesTo(destinations: readonly Destination[], proxies: ProxySettings): string {
  const names = new Map<string, string[]>();
  for (const { name, url } of destinations) {
    const proxy = proxyFor(proxies, placeOf(url));
    const route = proxy === null ? 'Direct' : `Through ${proxy.host}`;
    names.set(route, [...(names.get(route) ?? []), name]);
  }
  return [...names].map(([route, reached]) => `${route}: ${reached.join(', ')}.`).join(' ');
}

function invalidEntries({ noProxy }: ProxySettings): Finding[] {
  const { invalid } = parseNoProxy(noProxy);
  if (invalid.length === 0) return [];
  const message = `Entries of NO_PROXY that match nothing: ${invalid.join(', ')}.`;
  const advice = 'Write hosts, domains, addresses or ranges such as 10.0.0.0/8, separated by commas.';
  return [warned('NO_PROXY', message, advice)];
}
