/** Facts for the message at start: callback URLs, store, dashboard. */
export interface WelcomeFacts {
  /** Address that the receiver listens on. */
  readonly publicUrl: string;
  /** Address that senders use: `receiver.publicUrl`, else the one it listens on. */
  readonly callbackBase: string;
  readonly adminUrl: string;
  readonly store: string;
  /** Why callbacks are answered 503; null when the receiver is ready. */
  readonly notReady: string | null;
  readonly sources: Readonly<
    Record<
      string,
      { readonly credentials: Readonly<Record<string, { readonly headers: readonly string[] }>> }
    >
  >;
  /** Token generated at this start; undefined when tokens are configured. */
  readonly startToken: string | undefined;
}

export function welcome(facts: WelcomeFacts): string {
  const names = Object.keys(facts.sources);
  const lines = [
    '',
    facts.notReady === null
      ? 'Transcript Receiver is ready.'
      : `Transcript Receiver listens, but cannot accept callbacks yet: ${facts.notReady}`,
    '',
    ...names.map((name) => `  Callback URL   ${facts.callbackBase}/callbacks/${name}`),
    `  Store          ${facts.store}`,
    `  Dashboard      ${dashboardLink(facts)}`,
    '',
    ...exampleRequest(facts, names[0]),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Link to the dashboard; signs in when a token was generated at this start. */
export function dashboardLink({
  adminUrl,
  startToken,
}: Pick<WelcomeFacts, 'adminUrl' | 'startToken'>): string {
  return startToken === undefined ? `${adminUrl}/` : `${adminUrl}/#token=${startToken}`;
}

/** An example request, with the headers of a credential, not its secrets. */
function exampleRequest(facts: WelcomeFacts, source: string | undefined): string[] {
  if (source === undefined) return ['No source is configured: see docs/configuration.md.'];
  const [credential] = Object.values(facts.sources[source]?.credentials ?? {});
  const url = `${facts.publicUrl}/callbacks/${source}?id=job1&status=success`;
  const names = credential?.headers.map((line) => line.slice(0, line.indexOf(':'))) ?? [];
  const header = names.map((name) => `-H '${name}: <secret of ${source}>' `).join('');
  const body = '{"format":"2.9","results":[{"alternatives":[{"content":"Hello"}]}]}';
  return ['Try it:', '', `  curl ${header}-H 'Content-Type: application/json' -d '${body}' '${url}'`];
}
