import { type ClientRequest, request } from 'node:http';
import { ADMIN_TOKEN } from './replica.js';

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Takes the head of the answer and not a byte of its body, until it is over. */
export function pausedDownload(url: string, over: AbortSignal): Promise<void> {
  const outgoing = request(url, { headers: AUTHORIZATION, agent: false });
  outgoing.on('response', (response) => response.on('error', () => {}).pause());
  outgoing.end();
  return heldUntil(outgoing, over);
}

/** Half of a form whose rest never comes. */
export function stalledImport(url: string, over: AbortSignal): Promise<void> {
  const outgoing = request(url, {
    method: 'POST',
    agent: false,
    headers: { ...AUTHORIZATION, 'content-type': 'multipart/form-data; boundary=stalled' },
  });
  outgoing.on('response', (response) => response.on('error', () => {}).resume());
  outgoing.write(
    '--stalled\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n' +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  outgoing.write(Buffer.alloc(300_000, 'x'));
  return heldUntil(outgoing, over);
}

function heldUntil(outgoing: ClientRequest, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => void outgoing.destroy();
    over.addEventListener('abort', end, { once: true });
    outgoing.on('error', () => {});
    outgoing.on('close', () => {
      over.removeEventListener('abort', end);
      resolve();
    });
  });
}
