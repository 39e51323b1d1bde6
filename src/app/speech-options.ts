import type { Config } from '../config/config.js';
import type { SpeechOptions } from '../speech/speech.js';

/** The speech service's settings as its clients want them. */
export function speechOptions({ speech }: Config): SpeechOptions {
  return {
    apiKey: speech.apiKey,
    auth: speech.auth,
    temporaryKeyTtl: speech.temporaryKeyTtl,
    keysUrl: speech.keysUrl,
    regions: speech.regions,
    paths: speech.paths,
    maxRequestsPerSecond: speech.maxRequestsPerSecond,
    connectTimeout: speech.connectTimeout,
    requestTimeout: speech.requestTimeout,
    minBytesPerSecond: speech.minBytesPerSecond,
    retries: speech.retries,
  };
}

/** Whether the speech service can be asked for what is missing: there is a key, and an address to use it at. */
export function canAskService({ speech }: Config): boolean {
  return speech.apiKey !== null && Object.values(speech.regions).some(({ batchUrl }) => batchUrl !== null);
}
