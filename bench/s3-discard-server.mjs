// An S3 that takes every PUT and keeps nothing, so that what a put costs its client can be measured alone.
// node bench/s3-discard-server.mjs [port] prints its address; runs until it is ended.
import { createServer } from 'node:net';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nETag: "0"\r\nContent-Length: 0\r\n\r\n');

/** Counts bytes instead of parsing HTTP: the client never pipelines, so one request is under way at a time. */
const server = createServer((socket) => {
  let missing = 0;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    if (missing === 0) {
      const end = chunk.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1] ?? '0';
      missing = end + 4 + Number(length);
    }
    missing -= chunk.length;
    if (missing === 0) socket.write(ANSWER);
  });
});

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
