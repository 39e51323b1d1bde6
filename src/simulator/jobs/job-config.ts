import { CONTENT_TOKENS } from '../../domain/kinds.js';
import { isJsonObject } from '../../lib/text/parse-json.js';
import { type JobConfig, MAX_NOTIFICATIONS } from '../../speech/wire.js';

const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?.*$/;

/**
 * Why the service would reject this configuration, or null (docs/service-interface.md#callbacks).
 */
export function configFault(config: unknown): string | null {
  if (!isJsonObject(config)) return 'config: not an object';
  if (typeof config.type !== 'string') return 'config.type: required';
  const { fetch_data: fetched } = config;
  if (fetched !== undefined && !(isJsonObject(fetched) && typeof fetched.url === 'string'))
    return 'config.fetch_data.url: required';
  const entries = config.notification_config ?? [];
  if (!Array.isArray(entries)) return 'config.notification_config: not a list';
  if (entries.length > MAX_NOTIFICATIONS)
    return `config.notification_config: more than ${MAX_NOTIFICATIONS} entries`;
  for (const [index, entry] of entries.entries()) {
    const fault = notificationFault(entry);
    if (fault) return `config.notification_config[${index}]${fault}`;
  }
  return null;
}

/**
 * Why the service would reject a submission with this configuration, or null. Tests that call `submit` may leave out what a client
 * must send: the type that is known and, with it, a language (docs/service-interface.md#batch-api).
 */
export function submissionFault(config: unknown): string | null {
  const fault = configFault(config);
  if (fault !== null) return fault;
  const { type, transcription_config: transcription } = config as Record<string, unknown>;
  if (type !== 'transcription') return `config.type: unknown type ${JSON.stringify(type)}`;
  if (!isJsonObject(transcription)) return 'config.transcription_config: required';
  if (typeof transcription.language !== 'string' || transcription.language === '')
    return 'config.transcription_config.language: required';
  return null;
}

/** Throws `RangeError` for a configuration that the service would reject. */
export function asJobConfig(config: unknown): JobConfig {
  const fault = configFault(config);
  if (fault) throw new RangeError(fault);
  return config as JobConfig;
}

function notificationFault(entry: unknown): string | null {
  if (!isJsonObject(entry)) return ': not an object';
  if (typeof entry.url !== 'string' || !isWebAddress(entry.url)) return '.url: not a web address';
  if (entry.auth_headers !== undefined && !isListOf(entry.auth_headers, (line) => HEADER_LINE.test(line)))
    return '.auth_headers: not a list of "<Header-Name>: <value>"';
  if (entry.contents !== undefined && !isListOf(entry.contents, isContentToken))
    return '.contents: unknown content';
  if (entry.method !== undefined && !isMethod(entry.method)) return '.method: neither POST nor PUT';
  return null;
}

function isContentToken(text: string): boolean {
  return (CONTENT_TOKENS as readonly string[]).includes(text);
}

/** The specification writes it in capitals, public documentation in lower case. */
function isMethod(value: unknown): boolean {
  return typeof value === 'string' && ['POST', 'PUT'].includes(value.toUpperCase());
}

function isListOf(value: unknown, accepts: (text: string) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string' && accepts(entry));
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
