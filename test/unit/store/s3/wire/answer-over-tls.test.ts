import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const CERTIFICATES = fileURLToPath(new URL('../../../../support/http/certificates/', import.meta.url));
const CA = `${CERTIFICATES}first.cert.pem`;
const [EXCHANGE, POOL, CONNECT, PROXIES] = [
  'store/s3/wire/exchange',
  'store/s3/wire/store-pool',
  'lib/outbound/connect',
  'lib/outbound/proxy-settings',
].map((name) => pathToFileURL(`src/${name}.ts`).href);

/** Has a thread of its own, so that it answers while the other one is busy. Closes the connection where the body says so. */
const SERVER = `
  const { parentPort, workerData: { answered, ...certificate } } = require('node:worker_threads');
  let connections = 0;
  const server = require('node:tls').createServer(certificate, (socket) => {
    connections += 1;
    let request = '';
    socket.on('error', () => undefined).on('data', (chunk) => {
      request += chunk.toString('latin1');
      if (!request.endsWith('end')) return;
      const isLast = request.includes('close');
      request = '';
      socket.write(
        'HTTP/1.1 200 OK\\r\\nx-connections: ' + connections + (isLast ? '\\r\\nconnection: close' : '')
          + '\\r\\ncontent-length: 0\\r\\n\\r\\n',
        () => {
          Atomics.add(answered, 0, 1);
          Atomics.notify(answered, 0);
        },
      );
      if (isLast) socket.end();
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const CLIENT = `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  import { Exchange } from ${JSON.stringify(EXCHANGE)};
  import { openPool } from ${JSON.stringify(POOL)};
  import { createConnect } from ${JSON.stringify(CONNECT)};
  import { NO_PROXIES } from ${JSON.stringify(PROXIES)};
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { answered, ...JSON.parse(process.env.CERTIFICATE) };
  const server = new Worker(${JSON.stringify(SERVER)}, { eval: true, execArgv: [], workerData });
  const [port] = await once(server, 'message');
  const pool = openPool('https://localhost:' + port, 1, createConnect({ timeout: 10_000, proxies: NO_PROXIES }));
  const send = (body) => dispatched(new Exchange({
    method: 'PUT', path: '/', headers: { host: 'localhost' }, body: Buffer.from(body), timeoutMs: 10_000,
  })).then(({ headers }) => headers['x-connections'], (error) => String(error.detail ?? error));
  function dispatched(exchange) {
    pool.dispatch(exchange.options, exchange);
    return exchange.answer;
  }
  const results = [await send('end')];
  for (const body of ['end', 'x'.repeat(100_000) + 'end', 'close, end']) {
    await new Promise(setImmediate);
    const sending = send(body);
    // undici sends over a used connection in the next turn. Nothing of that one comes before the next look at the network.
    await new Promise(setImmediate);
    Atomics.wait(answered, 0, results.length, 10_000);
    results.push(await sending);
  }
  results.push(await send('end'));
  process.stdout.write(JSON.stringify(results));
  process.exit(0);
`;

it('is believed when it comes in the turn of the event loop in which the body was sent', async () => {
  const certificate = {
    cert: readFileSync(CA, 'utf8'),
    key: readFileSync(`${CERTIFICATES}first.key.pem`, 'utf8'),
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', './test/support/processes/import-for-tests.mjs', '--input-type=module', '--eval', CLIENT],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: CA, CERTIFICATE: JSON.stringify(certificate) },
      timeout: 60_000,
    },
  );
  expect(JSON.parse(stdout)).toEqual(['1', '1', '1', '1', '2']);
});
