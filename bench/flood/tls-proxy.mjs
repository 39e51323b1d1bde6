// Ends TLS in front of a port, as a balancer on layer 4 does: a process of its own, for fork().
// Order: { port }, of the target. Reports { port }, where it listens, with a certificate that nobody has to trust.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer } from 'node:tls';

const file = (name) => readFileSync(new URL(`../../test/support/http/certificates/${name}`, import.meta.url));

process.once('message', ({ port }) => {
  const server = createServer({ cert: file('first.cert.pem'), key: file('first.key.pem') }, (socket) => {
    const onward = connect(port, '127.0.0.1');
    pipeline(socket, onward, socket, () => {});
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
