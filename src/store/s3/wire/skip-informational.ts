import type { Socket } from 'node:net';

/** A longer head is left to undici, which ends the connection. */
const MAX_HEAD_BYTES = 16 * 1024;
const INFORMATIONAL = Buffer.from('HTTP/1.1 1');
const END_OF_HEAD = '\r\n\r\n';

/**
 * Takes informational answers off what a socket receives, which undici's client does not for a `100 Continue` that nobody asked
 * for: it ends the connection at one, where RFC 9110, 15.2 has a client skip them. To be called before undici reads the socket.
 *
 * @returns to be called for each request after the first: what comes next begins with the head of an answer
 */
export function skipInformational(socket: Socket): () => void {
  let awaitsAnswer = true;
  let held: Buffer | null = null;
  socket.on('readable', () => {
    if (!awaitsAnswer) return;
    const received = socket.read() as Buffer | null;
    if (received === null) return;
    let rest = held === null ? received : Buffer.concat([held, received]);
    held = null;
    while (isInformational(rest)) {
      const end = rest.indexOf(END_OF_HEAD);
      if (end < 0 && rest.length < MAX_HEAD_BYTES) {
        held = rest;
        return;
      }
      if (end < 0) break;
      rest = rest.subarray(end + END_OF_HEAD.length);
    }
    if (rest.length === 0) return;
    awaitsAnswer = false;
    socket.unshift(rest);
  });
  return () => {
    awaitsAnswer = true;
  };
}

/** Whether it begins so, as far as it goes. */
function isInformational(head: Buffer): boolean {
  const length = Math.min(head.length, INFORMATIONAL.length);
  return length > 0 && INFORMATIONAL.compare(head, 0, length, 0, length) === 0;
}
