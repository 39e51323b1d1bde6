import { hash, timingSafeEqual } from 'node:crypto';
import { parseHeaderLine } from '../../lib/text/header-line.js';
import type { RequestHeaders } from '../callback-request.js';

/** A named credential of a source; times in milliseconds since 1970. */
export interface Credential {
  /** Complete header lines; all must match. */
  readonly headers: readonly string[];
  readonly notBefore: number | null;
  /** Invalid from this time on. */
  readonly expires: number | null;
}

export type AuthenticationFailure = 'missing' | 'wrong' | 'repeated' | 'not-yet-valid' | 'expired';

type Authentication =
  /** `credential` is null for a source without credentials, which accepts what its allowlist admits. */
  | { readonly ok: true; readonly credential: string | null }
  /** `credential` is set when the secret is right, but expired or not valid yet. Only for operators, never for the sender. */
  | { readonly ok: false; readonly reason: AuthenticationFailure; readonly credential: string | null };

/** Checks the presented headers at a time, in milliseconds since 1970. */
export type Authenticator = (headers: RequestHeaders, now: number) => Authentication;

interface CompiledCredential {
  readonly name: string;
  readonly lines: readonly CompiledLine[];
  readonly notBefore: number;
  readonly expires: number;
}

interface CompiledLine {
  readonly header: string;
  readonly digest: Buffer;
}

/** A header that credentials use, with the digest of its value in the request. */
interface PresentedHeader {
  readonly name: string;
  readonly digest: Buffer;
}

/** Placeholder that equals no digest, so that the comparison takes as long as with a wrong value. */
const MISSING_DIGEST = Buffer.alloc(32);

/**
 * Compiles a source's credentials. Every line of every credential is compared, as digests of equal length, even after a
 * match, so that timing reveals nothing. @throws an error that names a credential with an invalid header line
 */
export function compileAuthenticator(credentials: Readonly<Record<string, Credential>>): Authenticator {
  const compiled = Object.entries(credentials).map(([name, credential]) => compile(name, credential));
  if (compiled.length === 0) return () => ({ ok: true, credential: null });
  const names = [...new Set(compiled.flatMap(({ lines }) => lines.map(({ header }) => header)))];
  return (headers, now) => authenticate(headers, now, compiled, names);
}

function compile(name: string, { headers, notBefore, expires }: Credential): CompiledCredential {
  const lines = headers.map((line) => {
    const parsed = parseHeaderLine(line);
    if ('fault' in parsed) throw new Error(`credential ${name}: ${parsed.fault}`);
    return { header: parsed.name, digest: digestOf(parsed.value) };
  });
  if (lines.length === 0) throw new Error(`credential ${name}: no header lines`);
  return {
    name,
    lines,
    notBefore: notBefore ?? Number.NEGATIVE_INFINITY,
    expires: expires ?? Number.POSITIVE_INFINITY,
  };
}

function authenticate(
  headers: RequestHeaders,
  now: number,
  credentials: readonly CompiledCredential[],
  names: readonly string[],
): Authentication {
  const presented: PresentedHeader[] = [];
  let isMissing = true;
  for (const name of names) {
    const values = Object.hasOwn(headers, name) ? headers[name] : undefined;
    // Proxies differ in which of two equal headers they use, so a repeated header could bypass a check.
    if (values !== undefined && values.length > 1) return { ok: false, reason: 'repeated', credential: null };
    const value = values?.[0];
    if (value !== undefined) isMissing = false;
    presented.push({ name, digest: value === undefined ? MISSING_DIGEST : digestOf(value) });
  }
  if (isMissing) return { ok: false, reason: 'missing', credential: null };
  return checkCredentials(credentials, presented, now);
}

/** Compares every credential, even after a match. A valid one takes precedence over expired and future ones. */
function checkCredentials(
  credentials: readonly CompiledCredential[],
  presented: readonly PresentedHeader[],
  now: number,
): Authentication {
  let valid: string | null = null;
  let invalid: Authentication | null = null;
  for (const credential of credentials) {
    if (!matches(credential, presented)) continue;
    const validity = validityAt(credential, now);
    if (validity === 'valid') valid ??= credential.name;
    else invalid ??= { ok: false, reason: validity, credential: credential.name };
  }
  if (valid !== null) return { ok: true, credential: valid };
  return invalid ?? { ok: false, reason: 'wrong', credential: null };
}

type Validity = 'valid' | 'not-yet-valid' | 'expired';

function validityAt({ notBefore, expires }: CompiledCredential, now: number): Validity {
  if (now < notBefore) return 'not-yet-valid';
  return now < expires ? 'valid' : 'expired';
}

/** How closely the presented headers match one credential. */
export interface CredentialAttempt {
  readonly name: string;
  /** The result for each of its headers, without the value. */
  readonly headers: readonly {
    readonly name: string;
    readonly found: 'matches' | 'different' | 'missing' | 'repeated';
  }[];
  readonly validity: Validity;
  readonly notBefore: number;
  readonly expires: number;
}

/**
 * Finds the credential that the presented headers match most closely; null for a source without credentials. For
 * operators only: a sender must never see it.
 */
export function compileClosestCredential(
  credentials: Readonly<Record<string, Credential>>,
): (headers: RequestHeaders, now: number) => CredentialAttempt | null {
  const compiled = Object.entries(credentials).map(([name, credential]) => compile(name, credential));
  return (headers, now) => {
    const attempts = compiled.map((credential) => attemptOf(credential, headers, now));
    return attempts.sort((a, b) => closeness(b) - closeness(a))[0] ?? null;
  };
}

function attemptOf(credential: CompiledCredential, headers: RequestHeaders, now: number): CredentialAttempt {
  const { name, lines, notBefore, expires } = credential;
  return {
    name,
    headers: lines.map(({ header, digest }) => {
      const values = (Object.hasOwn(headers, header) ? headers[header] : undefined) ?? [];
      if (values.length === 0) return { name: header, found: 'missing' };
      if (values.length > 1) return { name: header, found: 'repeated' };
      const equal = timingSafeEqual(digestOf(values[0] ?? ''), digest);
      return { name: header, found: equal ? 'matches' : 'different' };
    }),
    validity: validityAt(credential, now),
    notBefore,
    expires,
  };
}

/** Matching headers count more than headers that are merely present; among equals a valid credential wins. */
function closeness({ headers, validity }: CredentialAttempt): number {
  const found = (what: string) => headers.filter((header) => header.found === what).length / headers.length;
  return 4 * found('matches') + 2 * (found('repeated') + found('different')) + (validity === 'valid' ? 1 : 0);
}

function matches({ lines }: CompiledCredential, presented: readonly PresentedHeader[]): boolean {
  let unequal = lines.length;
  for (const { header, digest } of lines) {
    for (const found of presented) {
      if (found.name === header) unequal -= Number(timingSafeEqual(found.digest, digest));
    }
  }
  return unequal === 0;
}

/** Hashes text that Node decoded as latin1. Configured values are ASCII, so the encoding cannot make different values equal. */
function digestOf(value: string): Buffer {
  return hash('sha256', value, 'buffer');
}
