import type { Config } from '../config/config.js';
import { proxies } from '../config/load/environment.js';
import type { SpeechOptions } from '../speech/speech.js';

/** Options of the speech service's clients, from the configuration. */
export function speechOptions({ speech }: Config): SpeechOptions {
  return {
    apiKey: speech.apiKey,
    auth: speech.auth,
    keysUrl: speech.keysUrl,
    regions: speech.regions,
    paths: speech.paths,
    maxRequestsPerSecond: speech.maxRequestsPerSecond,
    retries: speech.retries,
    proxies: proxies(),
  };
}

/** Whether missing results can be fetched: an API key and the address of a region are configured. */
export function canAskService({ speech }: Config): boolean {
  return speech.apiKey !== null && Object.values(speech.regions).some(({ batchUrl }) => batchUrl !== null);
}
