import { bufferContent } from './content/content.js';
import type { ApiFault } from './faults.js';
import type { ServerAnswer } from './http-server.js';

/** The answer that a fault sends instead of the real one; null for other faults. */
export function faultAnswer(fault: ApiFault | null): ServerAnswer | null {
  if (fault?.kind !== 'answer') return null;
  const { headers = {} } = fault;
  if (fault.base64 !== undefined) {
    const content = bufferContent(Buffer.from(fault.base64, 'base64'), 'application/octet-stream');
    return { status: fault.status, headers, content };
  }
  if (typeof fault.body === 'string') return { status: fault.status, headers, html: fault.body };
  return {
    status: fault.status,
    headers,
    json: fault.body ?? { code: fault.status, error: 'Simulated fault' },
  };
}

/** The answer, truncated by a `cut-download` fault. */
export function cutAnswer(answer: ServerAnswer, fault: ApiFault | null): ServerAnswer {
  if (fault?.kind !== 'cut-download' || !answer.content) return answer;
  return { ...answer, cutAfter: Math.floor(answer.content.size * (fault.share ?? 0.5)) };
}
