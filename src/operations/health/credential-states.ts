import { CREDENTIAL_NOTICE } from '../../domain/credential-notice.js';
import type { CredentialState } from '../answers/health.js';

/** The credentials of a source, as configured; times in milliseconds since the epoch. */
export interface CredentialSettings {
  readonly source: string;
  readonly credentials: readonly {
    readonly name: string;
    /** Names of its header lines. */
    readonly headers: readonly string[];
    readonly notBefore: number | null;
    readonly expires: number | null;
  }[];
}

type Sources = Readonly<
  Record<
    string,
    {
      /** `headers`: whole lines, with their secrets. */
      readonly credentials: Readonly<Record<string, Omit<CredentialSettings['credentials'][number], 'name'>>>;
    }
  >
>;

export function credentialSettings(sources: Sources): CredentialSettings[] {
  return Object.entries(sources).map(([source, { credentials }]) => ({
    source,
    credentials: Object.entries(credentials).map(([name, { headers, notBefore, expires }]) => ({
      name,
      headers: headers.map(headerName),
      notBefore,
      expires,
    })),
  }));
}

function headerName(line: string): string {
  return line.slice(0, line.indexOf(':'));
}

/** Names of the headers that a sender to the source needs now: those of its first valid credential. */
export function neededHeaders({ credentials }: CredentialSettings, now: number): readonly string[] {
  const valid = credentials.find(
    ({ notBefore, expires }) =>
      (notBefore ?? Number.NEGATIVE_INFINITY) <= now && now < (expires ?? Number.POSITIVE_INFINITY),
  );
  return valid?.headers ?? [];
}

/**
 * @param lastUse ISO 8601 by `<source>/<credential>`
 * @param isComplete false when the ledger could not be read, so that a credential without `lastUse` may have been used
 */
export function credentialStates(
  sources: readonly CredentialSettings[],
  lastUse: Readonly<Record<string, string>>,
  isComplete: boolean,
  now: number,
): CredentialState[] {
  return sources.flatMap(({ source, credentials }) =>
    credentials.map(({ name, notBefore, expires }) => {
      const lastUsedAt = lastUse[`${source}/${name}`] ?? null;
      const notFound = isComplete ? 'unused' : 'unknown';
      const state = stateOf({ notBefore, expires, used: lastUsedAt === null ? notFound : 'in-use', now });
      return {
        source,
        credential: name,
        state,
        lastUsedAt,
        notBefore: instant(notBefore),
        expires: instant(expires),
      };
    }),
  );
}

function stateOf(facts: {
  notBefore: number | null;
  expires: number | null;
  used: 'in-use' | 'unused' | 'unknown';
  now: number;
}): CredentialState['state'] {
  const { notBefore, expires, used, now } = facts;
  if (expires !== null && expires <= now) return 'expired';
  if (notBefore !== null && notBefore > now) return 'not-yet-valid';
  if (expires !== null && expires - now < CREDENTIAL_NOTICE) return 'expiring';
  return used;
}

function instant(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
