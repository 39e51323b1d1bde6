import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../domain/problem.js';
import { isDropped } from './connections/dropped-messages.js';
import type { OnMalformed } from './malformed-requests.js';
import { respondProblem } from './respond.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** How much of the body is drained of a request whose head is invalid. */
const DRAIN = { bytes: 64 * 1024, ms: 1000 };

/**
 * Ignores requests that are dropped, and rejects those that Node's parser accepts and HTTP/1.1 does not, before the listener sees
 * them.
 *
 * @param onMalformed called for each that is rejected
 */
export function withCheckedHead(listener: Listener, onMalformed: OnMalformed = () => {}): Listener {
  return (request, response) => {
    if (isDropped(request)) return;
    const fault = headFault(request);
    if (fault === null) return listener(request, response);
    const problem = new Problem('request-malformed', fault);
    onMalformed({ problem, reason: problem.code, peer: request.socket.remoteAddress });
    respondProblem(request, response, problem, DRAIN, true);
  };
}

/** A proxy in front may have taken the other Host, or the target without its fragment, to decide what it let through. */
function headFault({ httpVersion, rawHeaders, url }: IncomingMessage): string | null {
  const hosts = countOfHosts(rawHeaders);
  if (hosts === 0 && httpVersion === '1.1') return 'An HTTP/1.1 request has to have a Host header.';
  if (hosts > 1) return 'A request has to have one Host header only.';
  return url?.includes('#') === true ? 'The target of a request must not contain a #.' : null;
}

/** Node's own `headers` hold the first one alone. */
function countOfHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
