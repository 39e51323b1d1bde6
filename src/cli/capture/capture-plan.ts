import type { Config } from '../../config/config.js';
import { BYTES_PER_SAMPLE, checkStart } from '../../speech/realtime/check-config.js';
import type { StartOptions } from '../../speech/realtime/realtime.js';
import { RealtimeConfigError } from '../../speech/realtime/realtime-error.js';
import type { RealtimeRegion } from '../../speech/realtime/realtime-region.js';
import type { RealtimeCredential } from '../../speech/realtime/socket/connect.js';
import { type EndpointOptions, sessionAddresses } from '../../speech/realtime/socket/endpoint.js';
import type { AudioFormat, RawEncoding, TranscriptionConfig } from '../../speech/realtime/wire.js';
import { createSpeechClients } from '../../speech/speech.js';
import { parseJson } from '../../text/parse-json.js';
import { UsageError } from '../shared/exit-codes.js';
import type { AudioPace } from './capture-audio.js';

/** Options of the command line, as commander hands them over. */
export interface CaptureFlags {
  readonly language: string;
  readonly partials?: true;
  /** Further fields of the transcription configuration, `<field>=<value>`. */
  readonly set?: readonly string[];
  readonly encoding?: RawEncoding;
  readonly sampleRate?: number;
  readonly region?: RealtimeRegion;
  readonly agent?: true;
  readonly speed?: number;
  readonly source?: string;
  readonly keepAudio?: true;
  readonly json?: true;
}

/** What a capture will do, checked. */
export interface CapturePlan {
  readonly start: StartOptions;
  readonly source: { readonly name: string; readonly keyPrefix: string };
  readonly pace: AudioPace | null;
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
    checkStart(audioFormat, transcriptionConfig, 'passed');
    sessionAddresses(endpoint);
  } catch (error) {
    throw error instanceof RealtimeConfigError ? new UsageError(error.message) : error;
  }
  return {
    start: {
      ...endpoint,
      ...{ credential: credentialOf(config), audioFormat, transcriptionConfig, unknownFields: 'passed' },
    },
    source: sourceOf(flags.source, config),
    pace: paceOf(flags.speed, audioFormat),
  };
}

function audioFormatOf({ encoding, sampleRate }: CaptureFlags): AudioFormat {
  if (encoding === undefined && sampleRate === undefined) return { type: 'file' };
  if (encoding === undefined || sampleRate === undefined) {
    throw new UsageError('raw audio needs both --encoding and --sample-rate; leave both out for audio files');
  }
  return { type: 'raw', encoding, sample_rate: sampleRate };
}

/** Known fields are checked before anything is sent, others are passed on: public clients send more than is specified. */
function transcriptionConfigOf({ language, partials, set = [] }: CaptureFlags): TranscriptionConfig {
  const fields = set.map((text) => {
    const [, field, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
    if (field === undefined || value === undefined)
      throw new UsageError(`--set ${text}: expected <field>=<value>, such as max_delay=4`);
    const json = parseJson(value);
    return [field, json === undefined ? value : json] as const;
  });
  return { ...Object.fromEntries(fields), ...(partials ? { enable_partials: true } : {}), language };
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
    const clients = createSpeechClients({ apiKey, keysUrl: speech.keysUrl, regions: {} });
    try {
      return { jwt: (await clients.keys().create({ type: 'rt', ttlSeconds: KEY_TTL })).value };
    } finally {
      await clients.close();
    }
  };
}

function sourceOf(wanted: string | undefined, { sources }: Config): CapturePlan['source'] {
  const name = wanted ?? Object.keys(sources)[0] ?? '';
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (source === undefined) {
    throw new UsageError(`there is no source ${name}; configured are ${Object.keys(sources).join(', ')}`);
  }
  return { name, keyPrefix: source.keyPrefix };
}

function paceOf(speed: number | undefined, format: AudioFormat): AudioPace | null {
  if (speed === undefined) return null;
  if (format.type === 'file')
    throw new UsageError('--speed needs raw audio: the rate of a file is not known here');
  return { speed, bytesPerSecond: BYTES_PER_SAMPLE[format.encoding] * format.sample_rate };
}
