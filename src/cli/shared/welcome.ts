/** What a person who starts the receiver wants to know: where to send, how to try, where to look. */
export interface WelcomeFacts {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly store: string;
  /** Why callbacks are answered 503 for now; null when all is well. */
  readonly notReady: string | null;
  readonly sources: Readonly<Record<string, { readonly credentials: Readonly<Record<string, unknown>> }>>;
  /** Token made at this start; undefined when tokens are configured. */
  readonly startToken: string | undefined;
}

export function welcome(facts: WelcomeFacts): string {
  const names = Object.keys(facts.sources);
  const lines = [
    '',
    facts.notReady === null
      ? 'Transcript Receiver is ready.'
      : `Transcript Receiver listens, but cannot take callbacks yet: ${facts.notReady}`,
    '',
    ...names.map((name) => `  Callback URL   ${facts.publicUrl}/callbacks/${name}`),
    `  Store          ${facts.store}`,
    `  Dashboard      ${dashboardLink(facts)}`,
    '',
    ...tryIt(facts, names[0]),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Opens the dashboard, signed in when a token was made at this start. */
export function dashboardLink({
  adminUrl,
  startToken,
}: Pick<WelcomeFacts, 'adminUrl' | 'startToken'>): string {
  return startToken === undefined ? `${adminUrl}/` : `${adminUrl}/#token=${startToken}`;
}

/** The credential itself is not printed: whoever configured it knows it. */
function tryIt(facts: WelcomeFacts, source: string | undefined): string[] {
  if (source === undefined) return ['No source is configured: see docs/configuration.md.'];
  const needsCredential = Object.keys(facts.sources[source]?.credentials ?? {}).length > 0;
  const url = `${facts.publicUrl}/callbacks/${source}?id=job1&status=success`;
  const header = needsCredential ? `-H '<the credential of ${source}>' ` : '';
  const body = `{"format":"2.9","job":{"id":"job1"},"metadata":{},"results":[]}`;
  return ['Try it:', '', `  curl ${header}-H 'Content-Type: application/json' -d '${body}' '${url}'`];
}
