import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import sonicBoom from 'sonic-boom';

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

/** Fields that are redacted, at the top level and one level below. */
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

/** Milliseconds without progress after which an exiting process stops waiting for the reader of standard output. */
const FLUSH_TIMEOUT = 2_000;

/** Bytes of lines that wait for the reader of standard output; further lines are dropped. */
const MAX_WAITING = 4 * 1024 * 1024;

/** Bytes per write, below sonic-boom's limit of 16 KiB, and milliseconds after which fewer bytes are written. */
const BATCH = { bytes: 12 * 1024, ms: 100 };

/** sonic-boom, pino's stream, with lines as bytes, which its own types do not declare. */
interface ByteStream {
  write(line: Buffer): boolean;
  flush(): void;
  on(event: 'write', listener: (bytes: number) => void): void;
  on(event: 'drop', listener: (line: Buffer) => void): void;
  on(event: 'error', listener: () => void): void;
  once(event: 'drain', listener: () => void): void;
  off(event: 'drain' | 'write', listener: () => void): void;
}

/**
 * Asynchronous, because a slow or closed reader of standard output, or a full disk, must not block the event loop. Lines that cannot be
 * written wait for the next line, as long as there is room.
 *
 * The stream is passed bytes: for each string, sonic-boom counts the bytes of all waiting strings again, for which V8 copies them. Not
 * `pino.destination`, which writes the waiting lines at exit, and hangs when that fails.
 */
function standardOutput(): DestinationStream & { flush(done: () => void): void } {
  const stream: ByteStream = new sonicBoom.SonicBoom({
    fd: 1,
    sync: false,
    contentMode: 'buffer',
    maxLength: MAX_WAITING,
    minLength: BATCH.bytes,
  }) as object as ByteStream;
  let waiting = 0;
  let isScheduled = false;
  stream.on('write', (bytes) => {
    waiting -= bytes;
  });
  stream.on('drop', (line) => {
    waiting -= line.length;
  });
  stream.on('error', () => {});

  // Not sonic-boom's `periodicFlush`, which writes ten times a second even when there is nothing to write.
  function writeRest(): void {
    isScheduled = false;
    if (waiting > 0) stream.flush();
  }

  return {
    write(line) {
      const bytes = Buffer.from(line);
      waiting += bytes.length;
      stream.write(bytes);
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(writeRest, BATCH.ms).unref();
    },
    // Not sonic-boom's `flush`, which does not wait for a write in flight, and leaves less than a batch.
    flush(done) {
      const finish = (): void => {
        clearTimeout(timeout);
        stream.off('write', extendTimeout);
        stream.off('drain', flushNext);
        done();
      };
      const timeout = setTimeout(finish, FLUSH_TIMEOUT);
      const extendTimeout = (): void => void timeout.refresh();
      const flushNext = (): void => {
        if (waiting === 0) return finish();
        stream.once('drain', flushNext);
        stream.flush();
      };
      stream.on('write', extendTimeout);
      flushNext();
    },
  };
}

const CENSOR = '[redacted]';

/** `Bearer` and `Basic` credentials, and JWTs anywhere in a line (three base64url parts, the first a JSON object). */
const TOKENS = /\b(bearer|basic)\s+[\w.~+/-]{6,}=*|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/gi;

/** Query parameters with secrets: the key of the realtime interface is in `jwt`, and signed S3 URLs have several. */
const PARAMETERS = /([?&](?:jwt|token|access_token|api_?key|sig|signature|x-amz-[a-z-]+)=)[^&\s"'\\]+/gi;

/**
 * Returns a function that removes secrets from a finished log line (JSON text). Configured secrets shorter than 6 characters are
 * left to the field rules, because removing them everywhere would damage ordinary words.
 */
function createScrubber(secrets: readonly string[]): (line: string) => string {
  const known = knownSecrets(secrets);
  return (line) => {
    const scrubbed = line
      .replace(PARAMETERS, `$1${CENSOR}`)
      .replace(TOKENS, (_match, scheme?: string) => (scheme ? `${scheme} ${CENSOR}` : CENSOR));
    return known ? scrubbed.replace(known, CENSOR) : scrubbed;
  };
}

function knownSecrets(secrets: readonly string[]): RegExp | null {
  const forms = secrets.filter((secret) => secret.length >= 6).flatMap(writtenForms);
  if (forms.length === 0) return null;
  // Longest first, so that a secret that contains another one is removed as a whole.
  const alternatives = forms.sort((a, b) => b.length - a.length).map(escapeForRegExp);
  return new RegExp(alternatives.join('|'), 'g');
}

/** Forms of a secret in a JSON line: plain, JSON-escaped, or percent-encoded in a URL. */
function writtenForms(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)])];
}

function percentEncoded(secret: string): string {
  // encodeURIComponent throws on lone surrogates; the round trip replaces them.
  return encodeURIComponent(Buffer.from(secret).toString());
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
