import type { CredentialState } from './credential-states.js';
import { issueOf } from './issue-kinds.js';
import type { Issue } from './issues.js';

export function credentialIssues(credentials: readonly CredentialState[]): Issue[] {
  const sources = new Set(credentials.map(({ source }) => source));
  return [...sources].flatMap((name) => issuesOfSource(credentials.filter(({ source }) => source === name)));
}

/** @param credentials of one source */
function issuesOfSource(credentials: readonly CredentialState[]): Issue[] {
  const dated = credentials.flatMap(({ source, credential, state, expires }) =>
    expires === null || (state !== 'expired' && state !== 'expiring')
      ? []
      : [{ state, params: { source, credential, expires } }],
  );
  const expired = dated.filter(({ state }) => state === 'expired').map(({ params }) => params);
  const [first] = expired;
  if (first !== undefined && expired.length === credentials.length) {
    const since = expired.map(({ expires }) => expires).reduce((a, b) => (a > b ? a : b));
    return [issueOf('credentials-expired', { source: first.source, since })];
  }
  return dated.map(({ state, params }) =>
    issueOf(state === 'expired' ? 'credential-expired' : 'credential-expiring', params),
  );
}
