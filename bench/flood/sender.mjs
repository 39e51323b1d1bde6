// Connections that send prepared bytes over and over and never read: a process of its own, for fork().
// Order: { port, connections, first, text, seconds, reconnect, tls }: `first` is sent once on each connection. Reports { bytes, opened,
// closed } when the time is up.
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';

const BLOCK = 64 * 1024;

process.once(
  'message',
  ({ port, connections, first = '', text, seconds, reconnect = false, tls = false }) => {
    const block = Buffer.from(text.repeat(Math.max(1, Math.ceil(BLOCK / (text.length || 1)))), 'latin1');
    const sockets = new Set();
    const counts = { bytes: 0, opened: 0, closed: 0 };
    let over = false;

    function open() {
      const socket = (tls ? connectTls : connectTcp)({ port, host: '127.0.0.1', rejectUnauthorized: false });
      sockets.add(socket);
      // Never read: neither what is answered nor that the other side has ended.
      socket.pause();
      counts.opened += 1;
      const pump = () => {
        while (block.length > 0 && !over && !socket.destroyed) {
          counts.bytes += block.length;
          if (!socket.write(block)) return;
        }
      };
      socket
        .on(tls ? 'secureConnect' : 'connect', () => {
          socket.write(Buffer.from(first, 'latin1'));
          pump();
        })
        .on('drain', pump)
        .on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        counts.closed += 1;
        if (reconnect && !over) setTimeout(open, 10);
      });
    }

    for (let n = 0; n < connections; n += 1) open();
    setTimeout(() => {
      over = true;
      process.send({ ...counts, open: sockets.size }, () => process.exit(0));
    }, seconds * 1000);
  },
);
