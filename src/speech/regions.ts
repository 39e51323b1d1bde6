import { isRegion, REGIONS, type Region } from '../domain/job.js';
import { SpeechError } from './speech-error.js';

/** Addresses of the jobs API by region, without `/v2`; null or absent for regions not in use. */
export type RegionAddresses = Readonly<
  Partial<Record<Region, { readonly batchUrl?: string | URL | null | undefined }>>
>;

/** Regions that have an address, in the order of docs/service-interface.md. */
export function configuredRegions(addresses: RegionAddresses): Region[] {
  return REGIONS.filter((region) => addresses[region]?.batchUrl);
}

/** The region's address. Throws `SpeechError` of kind `configuration` with the known regions. */
export function batchAddress(region: string, addresses: RegionAddresses): URL {
  if (!isRegion(region)) {
    throw fault(`${JSON.stringify(region)} is no region; there are ${REGIONS.join(', ')}`);
  }
  const address = addresses[region]?.batchUrl;
  if (!address) throw fault(`no batchUrl is configured for region ${region}`);
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
