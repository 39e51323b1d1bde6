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

/** Milliseconds for which an ending process waits for a reader of standard output that takes nothing: it may be stuck or gone. */
const FLUSH_TIMEOUT = 2_000;

/** Bytes of lines that wait for a reader of standard output; further ones are dropped. */
const MAX_WAITING = 4 * 1024 * 1024;

/** Bytes of lines that are written at once, below sonic-boom's limit of 16 KiB for a write, and milliseconds after which fewer are. */
const BATCH = { bytes: 12 * 1024, ms: 100 };

/** What the types of sonic-boom, pino's stream, leave out: lines as bytes. */
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
 * Not synchronous: a slow reader of standard output must not block the event loop. Takes bytes, because of texts it counts the
 * bytes of all that wait with every further one, for which V8 copies them.
 *
 * Nor does a reader that is gone, or a full disk: what cannot be written waits for the next line, as long as there is room. The
 * stream is not one of `pino.destination`, which writes at exit what waits and hangs where that fails.
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
  let isTimed = false;
  stream.on('write', (bytes) => {
    waiting -= bytes;
  });
  stream.on('drop', (line) => {
    waiting -= line.length;
  });
  stream.on('error', () => {});

  // sonic-boom's own `periodicFlush` writes ten times a second even when there is nothing to write.
  function writeRest(): void {
    isTimed = false;
    if (waiting > 0) stream.flush();
  }

  return {
    write(line) {
      const bytes = Buffer.from(line);
      waiting += bytes.length;
      stream.write(bytes);
      if (isTimed) return;
      isTimed = true;
      setTimeout(writeRest, BATCH.ms).unref();
    },
    // sonic-boom's own does not wait for a write in flight, and leaves what is less than a batch.
    flush(done) {
      const end = (): void => {
        clearTimeout(giveUp);
        stream.off('write', waitAgain);
        stream.off('drain', goOn);
        done();
      };
      const giveUp = setTimeout(end, FLUSH_TIMEOUT);
      const waitAgain = (): void => void giveUp.refresh();
      const goOn = (): void => {
        if (waiting === 0) return end();
        stream.once('drain', goOn);
        stream.flush();
      };
      stream.on('write', waitAgain);
      goOn();
    },
  };
}

const CENSOR = '[redacted]';

/** `Bearer` and `Basic` credentials, and JWTs wherever they stand (three base64url parts, the first a JSON object). */
const TOKENS = /\b(bearer|basic)\s+[\w.~+/-]{6,}=*|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/gi;

/** Query parameters that carry secrets: the realtime interface takes its key as `jwt`, S3 signs addresses. */
const PARAMETERS = /([?&](?:jwt|token|access_token|api_?key|sig|signature|x-amz-[a-z-]+)=)[^&\s"'\\]+/gi;

/**
 * Returns a function that removes secrets from a finished log line (JSON text). Known secrets shorter than 6 characters are
 * left to the field rules: removing them would damage ordinary words.
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
