import { SpeechError } from './speech-error.js';

/** Addresses of the jobs API by region, without `/v2`; null or absent for regions not in use. */
export type RegionAddresses = Readonly<
  Record<string, { readonly batchUrl?: string | URL | null | undefined }>
>;

/** Regions that have an address. */
export function configuredRegions(addresses: RegionAddresses): string[] {
  return Object.keys(addresses).filter((region) => addresses[region]?.batchUrl);
}

/** The region's address. Throws `SpeechError` of kind `configuration` with the regions that have one. */
export function batchAddress(region: string, addresses: RegionAddresses): URL {
  const configured = configuredRegions(addresses);
  const address = configured.includes(region) ? addresses[region]?.batchUrl : null;
  if (!address) {
    const others =
      configured.length === 0 ? 'no region has one' : `regions with one are ${configured.join(', ')}`;
    throw fault(`no batchUrl is configured for region ${JSON.stringify(region)}; ${others}`);
  }
  return webAddress(address, `batchUrl of region ${region}`);
}

/** A plain http(s) address. A user name in it would end up in logs, a query would be lost. */
export function webAddress(address: string | URL, name: string): URL {
  const url = URL.canParse(String(address)) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw fault(`${name} is no http or https address`);
  if (url.username || url.password || url.search || url.hash) {
    throw fault(`${name} must hold neither user name nor query`);
  }
  return url;
}

function fault(text: string): SpeechError {
  return new SpeechError('configuration', 'find endpoint', text);
}
