import type { Attempt } from '../../subscribers/dead-event.js';
import type { TestEvent } from '../../subscribers/receiver-event.js';
import { GONE, isTemporary } from '../../subscribers/send/attempt-policy.js';
import { testEvent } from '../../subscribers/test-event.js';
import { type Finding, failed, passed, skipped, warned } from './finding.js';

type Send = (name: string, event: TestEvent) => Promise<Attempt & { readonly delivered: boolean }>;

/**
 * Sends a test event to each subscriber, as an event of a job would be sent.
 *
 * @param newId id of each test event
 */
export async function checkSubscribers(
  subscribers: readonly string[],
  send: Send,
  newId: () => string,
): Promise<Finding[]> {
  if (subscribers.length === 0) return [skipped('subscribers', 'No subscriber is configured.')];
  return Promise.all(
    subscribers.map(async (name) => findingOf(name, await send(name, testEvent(newId(), '/doctor')))),
  );
}

function findingOf(name: string, { delivered, status, error, answer }: Awaited<ReturnType<Send>>): Finding {
  const check = `subscriber ${name}`;
  if (delivered) return passed(check, `It answered the test event with ${status}.`);
  if (status === null) return failed(check, `It did not answer the test event: ${error}.`, adviceFor(error));
  const said = answer === undefined ? '' : `: ${JSON.stringify(answer)}`;
  const message = `It answered the test event with ${status}${said}.`;
  if (isTemporary(status)) {
    return warned(check, message, 'Events are retried for 24 hours. Look into the log of the subscriber.');
  }
  const outcome = status === GONE ? 'Such an answer ends an event.' : 'Events are retried for 24 hours.';
  return failed(check, `${message} ${outcome}`, ADVICE[status] ?? OTHER);
}

const OTHER =
  'Answer every authentic event with 2xx, also those of a type that the subscriber does not know.';
const SECRETS =
  'Compare the secrets of both sides, and verify the raw body: JSON that was parsed and serialised again has another signature.';
const REDIRECT = 'Redirects are not followed: set subscribers.<name>.url to the final address.';

const ADVICE: Readonly<Record<number, string>> = {
  301: REDIRECT,
  302: REDIRECT,
  303: REDIRECT,
  307: REDIRECT,
  308: REDIRECT,
  400: SECRETS,
  401: SECRETS,
  403: SECRETS,
  404: 'Correct the path of subscribers.<name>.url.',
  405: 'The address must accept POST.',
  410: 'The address was given up: correct subscribers.<name>.url.',
  413: 'Raise the limit for bodies: events with many items have some hundred kilobytes.',
  415: 'Accept the content type application/cloudevents+json.',
};

function adviceFor(error: string | null): string {
  if (error === 'timeout') {
    return 'Answer before the work is done: a request is given 15 s.';
  }
  if (error?.startsWith('PROXY_'))
    return 'Let the proxy connect to the host and port, or add the host to NO_PROXY; see the line "proxies" above.';
  if (error === 'ENOTFOUND' || error === 'EAI_AGAIN')
    return 'Correct the host of subscribers.<name>.url, or the DNS.';
  if (error !== null && /CERT|SSL|TLS|ALTNAME/.test(error)) {
    return 'Correct the certificate, or trust its authority with NODE_EXTRA_CA_CERTS.';
  }
  return 'Check that the subscriber runs, and that a firewall or network policy lets this machine reach it.';
}
