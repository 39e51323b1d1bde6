// Node's own server without anything of ours: reads each body and answers at once.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const body = JSON.stringify({ status: 'ok' });
  request.resume();
  response.writeHead(request.url === '/nope' ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  console.log(
    JSON.stringify({ event: 'listening', receiverUrl: `http://127.0.0.1:${server.address().port}` }),
  );
});
