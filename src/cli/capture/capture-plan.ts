import type { Config } from '../../config/config.js';
import { proxies } from '../../config/load/environment.js';
import { parseJson } from '../../lib/text/parse-json.js';
import { checkStart } from '../../speech/realtime/check-config.js';
import type { StartOptions } from '../../speech/realtime/realtime.js';
import { RealtimeConfigError } from '../../speech/realtime/realtime-error.js';
import type { RealtimeRegion } from '../../speech/realtime/realtime-region.js';
import type { RealtimeCredential } from '../../speech/realtime/socket/connect.js';
import { type EndpointOptions, sessionAddresses } from '../../speech/realtime/socket/endpoint.js';
import type { AudioFormat, RawEncoding, TranscriptionConfig } from '../../speech/realtime/wire.js';
import { createSpeechClients } from '../../speech/speech.js';
import { UsageError } from '../shared/exit-codes.js';
import { sourceNamed } from '../shared/source-credential.js';

/** Options of the command line, as commander passes them. */
export interface CaptureFlags {
  readonly language: string;
  /** Further fields of the transcription configuration, `<field>=<value>`. */
  readonly set?: readonly string[];
  readonly encoding?: RawEncoding;
  readonly sampleRate?: number;
  readonly region?: RealtimeRegion;
  readonly agent?: true;
  readonly source?: string;
  readonly json?: true;
}

/** Validated settings of a capture. */
export interface CapturePlan {
  readonly start: StartOptions;
  readonly source: { readonly name: string; readonly keyPrefix: string };
}

/** Throws `UsageError` for flags that contradict each other, the protocol or the configuration. */
export function capturePlan(flags: CaptureFlags, config: Config): CapturePlan {
  const audioFormat = audioFormatOf(flags);
  const transcriptionConfig = transcriptionConfigOf(flags);
  const endpoint: EndpointOptions = {
    hosts: hostsOf(config),
    ...(flags.region === undefined ? {} : { region: flags.region }),
    service: flags.agent ? 'agent' : 'realtime',
  };
  try {
    checkStart(audioFormat, transcriptionConfig);
    sessionAddresses(endpoint);
  } catch (error) {
    throw error instanceof RealtimeConfigError ? new UsageError(error.message) : error;
  }
  return {
    start: {
      ...endpoint,
      credential: credentialOf(config),
      audioFormat,
      transcriptionConfig,
      proxies: proxies(),
    },
    source: sourceOf(flags.source, config),
  };
}

function audioFormatOf({ encoding, sampleRate }: CaptureFlags): AudioFormat {
  if (encoding === undefined && sampleRate === undefined) return { type: 'file' };
  if (encoding === undefined || sampleRate === undefined) {
    throw new UsageError('raw audio needs both --encoding and --sample-rate; leave both out for audio files');
  }
  return { type: 'raw', encoding, sample_rate: sampleRate };
}

/** Known fields are checked before anything is sent. Others are passed on, because public clients send more fields than are specified. */
function transcriptionConfigOf({ language, set = [] }: CaptureFlags): TranscriptionConfig {
  const fields = set.map((text) => {
    const [, field, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
    if (field === undefined || value === undefined)
      throw new UsageError(`--set ${text}: expected <field>=<value>, such as max_delay=4`);
    const json = parseJson(value);
    return [field, json === undefined ? value : json] as const;
  });
  return { ...Object.fromEntries(fields), language };
}

function hostsOf({ speech }: Config): StartOptions['hosts'] {
  const { global, eu, us, au } = speech.realtime;
  const hosts = { global, eu1: eu, us1: us, au1: au };
  const known = Object.entries(hosts).filter(([, host]) => host !== null);
  if (known.length === 0)
    throw new UsageError('no realtime host is configured; set speech.realtime.global or another');
  return Object.fromEntries(known);
}

/** Seconds; a key is needed only to open the session. */
const KEY_TTL = 600;

function credentialOf({ speech }: Config): () => Promise<RealtimeCredential> {
  const { apiKey } = speech;
  if (apiKey === null) throw new UsageError('no API key is configured; set speech.apiKey');
  if (speech.auth === 'apiKey') return async () => ({ apiKey });
  return async () => {
    const clients = createSpeechClients({ apiKey, keysUrl: speech.keysUrl, regions: {}, proxies: proxies() });
    try {
      return { jwt: (await clients.keys().create({ type: 'rt', ttlSeconds: KEY_TTL })).value };
    } finally {
      await clients.close();
    }
  };
}

function sourceOf(wanted: string | undefined, config: Config): CapturePlan['source'] {
  const name = wanted ?? Object.keys(config.sources)[0] ?? '';
  return { name, keyPrefix: sourceNamed(config, name).keyPrefix };
}
