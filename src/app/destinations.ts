import type { Config } from '../config/config.js';
import { readStoreLocation } from '../lib/text/store-location.js';
import { storeOptions } from './store/store-options.js';

/** An address that the receiver connects to. */
export interface Destination {
  readonly name: string;
  readonly url: URL;
}

type Place = readonly [name: string, url: string | URL | null | undefined];

/** The addresses that this configuration connects to, without a bucket whose address is unknown: opening it reports why. */
export async function destinationsOf(config: Config, publicUrl?: URL): Promise<Destination[]> {
  const { keysUrl, regions, realtime } = config.speech;
  const places: Place[] = [
    ['store', await storeAddress(config)],
    ['key service', keysUrl],
    ...Object.entries(regions).map(([name, { batchUrl }]): Place => [`service ${name}`, batchUrl]),
    ...Object.entries(realtime).map(([name, host]): Place => [`realtime ${name}`, webSocketOf(host)]),
    ...Object.entries(config.subscribers).map(([name, { url }]): Place => [`subscriber ${name}`, url]),
    ['public address', publicUrl],
  ];
  return places.flatMap(([name, url]) => (url ? [{ name, url: new URL(url) }] : []));
}

async function storeAddress(config: Config): Promise<string | null> {
  const { url, s3 = {} } = storeOptions(config);
  const place = readStoreLocation(url);
  if (!('bucket' in place)) return null;
  const { bucketAddress, s3Limits } = await import('../store/s3/s3-client.js');
  return bucketAddress(s3, s3Limits(s3), place.bucket).then(
    ({ origin }) => origin,
    () => null,
  );
}

function webSocketOf(host: string | null): string | null {
  return host === null || host.includes('://') ? host : `wss://${host}`;
}
