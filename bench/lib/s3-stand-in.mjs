/**
 * An S3 in a process of its own that costs the machine as little as possible: conditional writes, metadata, sizes and
 * listings are right, bodies of artefacts are counted and thrown away. Control objects (probe, canary, ledger) are kept.
 *
 *   node bench/lib/s3-stand-in.mjs     prints {"port": n}; steered over HTTP below /_control/
 *
 * PUTs with a Content-Length go through a byte counter on the bare socket; everything else through node:http.
 */
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStandInState } from './s3-stand-in-state.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');
/** Bodies up to this size are held until their key has told whether they are kept. */
const SMALL = 1024 * 1024;

const state = createStandInState();
const http = createHttpServer({ requestTimeout: 0 }, (request, response) => {
  answer(request, response).catch(() => response.destroy());
});

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  countBytes(socket);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));

/** Takes simple PUTs off the socket; the first request of another kind hands the connection over for good. */
function countBytes(socket) {
  let put = null;
  let head = null;
  socket.on('data', onData);

  function onData(chunk) {
    if (put === null) {
      head = head === null ? chunk : Buffer.concat([head, chunk]);
      const end = head.indexOf(HEAD_END);
      if (end === -1) return;
      put = simplePut(head.toString('latin1', 0, end));
      if (put === null) return handOver(head);
      chunk = head.subarray(end + 4);
      head = null;
    }
    put.missing -= chunk.length;
    if (put.keep) put.chunks.push(Buffer.from(chunk));
    if (put.missing > 0) return;
    const done = put;
    put = null;
    const write = () => {
      if (!socket.destroyed) socket.write(rawAnswer(state.put(done)));
    };
    if (state.latencyMs > 0) setTimeout(write, state.latencyMs);
    else write();
  }

  function handOver(first) {
    socket.off('data', onData);
    socket.pause();
    http.emit('connection', socket);
    socket.unshift(first);
    process.nextTick(() => socket.resume());
  }
}

function simplePut(text) {
  if (!text.startsWith('PUT ')) return null;
  const lines = text.split('\r\n');
  const headers = {};
  for (let index = 1; index < lines.length; index += 1) {
    const colon = lines[index].indexOf(':');
    headers[lines[index].slice(0, colon).toLowerCase()] = lines[index].slice(colon + 1).trim();
  }
  const length = headers['content-length'];
  if (length === undefined || 'transfer-encoding' in headers || 'expect' in headers) return null;
  return describePut(lines[0].split(' ')[1], headers, Number(length));
}

function describePut(url, headers, length) {
  const question = url.indexOf('?');
  const path = question === -1 ? url : url.slice(0, question);
  // Path style: the first segment is the bucket.
  const key = decodeURIComponent(path.slice(path.indexOf('/', 1) + 1));
  const query = question === -1 ? null : new URLSearchParams(url.slice(question + 1));
  const keep = length <= SMALL && state.keeps(key);
  return { key, query, headers, size: length, missing: length, keep, chunks: [] };
}

function rawAnswer({ status, headers = {}, body = '' }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} S\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

async function answer(request, response) {
  if (request.url.startsWith('/_control/')) return control(request, response);
  if (request.method === 'PUT') {
    const put = describePut(request.url, request.headers, 0);
    // The size is not known ahead in a chunked body, and aws-chunked frames it once more.
    put.keep = state.keeps(put.key);
    for await (const chunk of request) {
      put.size += chunk.length;
      if (put.keep) put.chunks.push(chunk);
    }
    const decoded = request.headers['x-amz-decoded-content-length'];
    if (decoded !== undefined) put.size = Number(decoded);
    if (state.latencyMs > 0) await sleep(state.latencyMs);
    return send(response, state.put(put));
  }
  const body = await buffer(request);
  if (state.latencyMs > 0) await sleep(state.latencyMs);
  send(response, state.answer(request, body));
}

function send(response, { status, headers = {}, body = '' }) {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

async function control(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://stand-in');
  if (pathname === '/_control/reset') state.reset(Object.fromEntries(searchParams));
  if (pathname === '/_control/forget') state.forget();
  send(response, {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(state.counts()),
  });
}
