import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { createScrubber } from './scrubber.js';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: string;
  /** Turns a line of JSON into one for a person at a terminal (`formatPretty`). Default: lines stay JSON. */
  readonly format?: (line: string) => string;
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
  const { format } = options;
  const destination = options.destination ?? (format ? pino.destination({ dest: 1 }) : standardOutput());
  return pino(
    {
      level: options.level,
      base: options.replica === undefined ? {} : { replica: options.replica },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
      hooks: { streamWrite: createScrubber(options.secrets ?? []) },
    },
    format ? { write: (line) => destination.write(format(line)) } : destination,
  );
}

/** Milliseconds that an ending process waits for a reader of standard output, which may be stuck or gone. */
const FLUSH_TIMEOUT = 2_000;

/** What sonic-boom, pino's stream, has besides; `write` is emitted with the bytes that were written. */
interface ByteStream {
  write(line: Buffer): boolean;
  on(event: 'write', listener: (bytes: number) => void): void;
  once(event: 'drain', listener: () => void): void;
}

/**
 * Not synchronous: a slow reader of standard output must not block the event loop. Takes bytes, because of texts it counts the
 * bytes of all that wait with every further one, for which V8 copies them.
 *
 * At exit pino writes what waits, but a write in flight is lost. sonic-boom's own flush does not wait for it.
 */
function standardOutput(): DestinationStream & { flush(done: () => void): void } {
  const stream = pino.destination({
    dest: 1,
    sync: false,
    contentMode: 'buffer',
  } as object) as unknown as ByteStream;
  let waiting = 0;
  stream.on('write', (bytes) => {
    waiting -= bytes;
  });
  return {
    write(line) {
      const bytes = Buffer.from(line);
      waiting += bytes.length;
      stream.write(bytes);
    },
    flush(done) {
      if (waiting === 0) return done();
      const timer = setTimeout(done, FLUSH_TIMEOUT);
      stream.once('drain', () => {
        clearTimeout(timer);
        done();
      });
    },
  };
}
