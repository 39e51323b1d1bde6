import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ListenError } from '../receiver/http/listen.js';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateStatus {
  /** ISO 8601; end of the certificate that is served. */
  readonly expires: string;
  /** Why the files as they are now are not served, but those before them; null when they are. */
  readonly error: string | null;
}

/** Certificate and key of the admin port, which follow their files. */
export interface AdminCertificate {
  /** What is served now. */
  pair(): CertificatePair;
  status(): CertificateStatus;
  /** Calls `apply` with every pair that replaces the one before, looking at the files regularly until `stop`. */
  follow(apply: (pair: CertificatePair) => void): void;
  /** Looks at the files now. Never rejects: a pair that is unusable leaves the one before in place. */
  check(): Promise<void>;
  stop(): void;
}

export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateOptions {
  /** Called when the files change: with null for a pair that is served now, else with why it is not. */
  readonly onChange: (error: string | null) => void;
  /** Milliseconds between looks at the files. Default 10,000. */
  readonly interval?: number;
}

/** Throws `ListenError` when the files do not hold a certificate and its key. */
export function openCertificate(files: CertificateFiles, options: CertificateOptions): AdminCertificate {
  const { onChange, interval = 10_000 } = options;
  let served = readFirst(files);
  let expires = checked(served);
  let error: string | null = null;
  let applyPair: (pair: CertificatePair) => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;

  function changed(reason: string | null): void {
    error = reason;
    onChange(reason);
  }

  async function check(): Promise<void> {
    try {
      const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
      if (cert.equals(served.cert) && key.equals(served.key)) {
        // Back to what is served: a half-written pair was undone.
        if (error !== null) changed(null);
        return;
      }
      const end = checked({ cert, key });
      applyPair({ cert, key });
      served = { cert, key };
      expires = end;
      changed(null);
    } catch (cause) {
      const reason = reasonOf(cause);
      if (reason !== error) changed(reason);
    }
  }

  return {
    pair: () => served,
    status: () => ({ expires, error }),
    follow(apply) {
      applyPair = apply;
      timer = setInterval(() => void check(), interval).unref();
    },
    check,
    stop: () => clearInterval(timer),
  };
}

function readFirst(files: CertificateFiles): CertificatePair {
  try {
    const pair = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
    checked(pair);
    return pair;
  } catch (error) {
    throw new ListenError(`admin.tls: ${reasonOf(error)}`, { cause: error });
  }
}

/** The end of the certificate. Throws when it cannot be read, or the key is not its own. */
function checked(pair: CertificatePair): string {
  createSecureContext(pair);
  return new Date(new X509Certificate(pair.cert).validTo).toISOString();
}

/** Messages of OpenSSL and of the file system name no content. */
function reasonOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'the files cannot be read';
}
