import type { CredentialState } from '../../answers/health.js';
import { issueOf } from '../../issues/issue-kinds.js';
import type { Issue } from '../../issues/issues.js';

/** @param isUseKnown false when the ledger could not be read, so that any credential may be in use */
export function credentialIssues(credentials: readonly CredentialState[], isUseKnown: boolean): Issue[] {
  const sources = new Set(credentials.map(({ source }) => source));
  return [...sources].flatMap((name) =>
    issuesOfSource(
      name,
      credentials.filter(({ source }) => source === name),
      isUseKnown,
    ),
  );
}

/** @param credentials of the source */
function issuesOfSource(
  source: string,
  credentials: readonly CredentialState[],
  isUseKnown: boolean,
): Issue[] {
  const expired = credentials.flatMap((each) => endOf(each, 'expired'));
  const next = credentials.flatMap(({ state, notBefore }) =>
    state === 'not-yet-valid' ? (notBefore ?? []) : [],
  );
  if (expired.length + next.length === credentials.length) {
    const since =
      expired
        .map(({ expires }) => expires)
        .sort()
        .at(-1) ?? null;
    return [issueOf('credentials-expired', { source, since, next: next.sort()[0] ?? null })];
  }
  const expiring = credentials.flatMap((each) => endOf(each, 'expiring'));
  const successor =
    credentials.findLast(({ state }) => ['in-use', 'unused', 'unknown'].includes(state))?.credential ?? null;
  return [
    ...expired.map(({ credential, expires }) =>
      issueOf('credential-expired', { source, credential, expires }),
    ),
    ...expiring
      // An unused credential with a successor may expire.
      .filter(({ lastUsedAt }) => successor === null || lastUsedAt !== null || !isUseKnown)
      .map((each) => issueOf('credential-expiring', { source, ...each, successor })),
  ];
}

function endOf(
  { credential, state, expires, lastUsedAt }: CredentialState,
  wanted: CredentialState['state'],
) {
  return state === wanted && expires !== null ? [{ credential, expires, lastUsedAt }] : [];
}
