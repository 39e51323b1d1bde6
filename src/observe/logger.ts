import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { createScrubber } from './scrubber.js';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: string;
  /** `pretty` is for a person at a terminal in development; `json` is one object per line. */
  readonly format: 'json' | 'pretty';
  /** Name of the replica, on every line. */
  readonly replica?: string;
  /** Secret values of the configuration, removed wherever one occurs in a line. */
  readonly secrets?: readonly string[];
  /** Where lines go. Default: standard output. */
  readonly destination?: DestinationStream;
}

/** Fields that a log must not keep, at the top and one level down. */
const SECRET_FIELDS = [
  'authorization',
  'headers',
  'cookie',
  'token',
  'tokens',
  'apiKey',
  'key_value',
  'password',
  'secret',
  'body',
];

/**
 * JSON lines with stable field names. Secrets are removed twice: fields that could hold one are replaced, and bearer tokens,
 * secret query parameters and the configured secrets are removed from every finished line.
 */
export function createLogger(options: LoggerOptions): Logger {
  const isPretty = options.format === 'pretty';
  // Not synchronous: a slow reader of standard output must not block the event loop. Flushed at exit.
  const destination = options.destination ?? pino.destination({ dest: 1, sync: isPretty });
  return pino(
    {
      level: options.level,
      base: options.replica === undefined ? {} : { replica: options.replica },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
      hooks: { streamWrite: createScrubber(options.secrets ?? []) },
    },
    isPretty ? prettified(destination) : destination,
  );
}

function prettified(destination: DestinationStream): DestinationStream {
  const format = prettyFactory({ colorize: true, ignore: 'replica', translateTime: 'HH:MM:ss.l' });
  return { write: (line) => destination.write(format(line)) };
}
