import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * A keep-alive connection that costs the machine little: it writes prepared bytes and reads status and length of the
 * answer. One request at a time. Connects again when the server closed.
 */
export function createConnection(port) {
  let socket = null;
  let waiting = null;
  let received = null;

  function open() {
    socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('data', onData);
    socket.on('error', () => {});
    socket.on('close', () => {
      socket = null;
      received = null;
      settle({ status: 0 });
    });
  }

  function onData(chunk) {
    received = received === null ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf(HEAD_END);
    if (end === -1) return;
    const head = received.toString('latin1', 0, end).toLowerCase();
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const status = Number(head.slice(9, 12));
    received = null;
    if (status === 100) return;
    if (head.includes('\r\nconnection: close')) drop();
    settle({ status });
  }

  /** The rest of a body that was refused early is not sent. */
  function drop() {
    socket?.removeAllListeners('close').destroy();
    socket = null;
  }

  function settle(result) {
    const settled = waiting;
    waiting = null;
    settled?.(result);
  }

  function answered() {
    return new Promise((resolve) => {
      waiting = resolve;
    });
  }

  return {
    /** Status of the answer, 0 when the connection broke first. */
    send(head, body) {
      if (socket === null) open();
      const answer = answered();
      socket.cork();
      socket.write(head, 'latin1');
      if (body !== null) socket.write(body);
      socket.uncork();
      return answer;
    },
    /** The same with a body of `bytes`, made of one chunk written again and again as fast as it is taken, until it is answered. */
    async stream(head, before, chunk, bytes, after) {
      if (socket === null) open();
      const writing = socket;
      let wake = () => {};
      let isAnswered = false;
      const answer = answered().finally(() => {
        isAnswered = true;
        wake();
      });
      const onDrain = () => wake();
      writing.on('drain', onDrain);
      writing.write(head, 'latin1');
      writing.write(before);
      for (let left = bytes; left > 0 && !isAnswered; left -= chunk.length) {
        const more = writing.write(left >= chunk.length ? chunk : chunk.subarray(0, left));
        if (!more) await new Promise((resolve) => (wake = resolve));
      }
      if (!isAnswered) writing.write(after);
      else if (socket === writing) drop();
      const result = await answer;
      writing.off('drain', onDrain);
      return result;
    },
    close: drop,
  };
}
