/**
 * The discarding S3 of the tests in a process of its own. Bodies of artefacts are counted and thrown away; the probe,
 * the canary and the ledger are kept.
 *
 *   node bench/lib/s3-stand-in.mjs
 *
 * Prints {"port": n, "control": n}. On the control port: /reset?latency=<ms>&keep=all, /latency?ms=<ms>, /forget, /counts.
 */
import { createServer } from 'node:http';
import '../../scripts/run-typescript.mjs';

const { startDiscardingS3 } = await import('../../test/support/store/discarding-s3.js');

let keepsAll = false;
let puts = { control: 0, ledger: 0, artefact: 0 };

function kindOf(key) {
  if (key.includes('.probe/') || key.includes('.canary/') || key.includes('.store/')) return 'control';
  return key.includes('ledger/') ? 'ledger' : 'artefact';
}

const s3 = await startDiscardingS3({
  // The upload information of tus is read again.
  keepsBody: (key) => keepsAll || kindOf(key) !== 'artefact' || key.endsWith('.info'),
  onAnswer: ({ operation, key }) => {
    if (operation === 'PutObject' || operation === 'UploadPart') puts[kindOf(key)] += 1;
  },
});

const control = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://stand-in');
  if (pathname === '/reset') reset(Object.fromEntries(searchParams));
  if (pathname === '/latency') s3.latencyMs = Number(searchParams.get('ms'));
  // Objects only: uploads in flight go on.
  if (pathname === '/forget') s3.state.objects.clear();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ puts, objects: s3.state.objects.size, uploads: s3.state.uploads.size }));
});
control.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: s3.port, control: control.address().port }));
});

function reset({ latency = '0', keep = '' }) {
  s3.state.objects.clear();
  s3.state.uploads.clear();
  puts = { control: 0, ledger: 0, artefact: 0 };
  s3.latencyMs = Number(latency);
  keepsAll = keep === 'all';
}
