// The floor: Express that drains the body and answers. With BENCH_TOKEN it looks at one header first and answers 401.
import express from 'express';
import { listen } from './s3.mjs';

const token = process.env.BENCH_TOKEN;
const app = express().disable('x-powered-by');
app.all('/callbacks/:source', (request, response) => {
  if (token !== undefined && request.headers['x-bench-token'] !== token) {
    response.status(401).json({ code: 'credential-missing' });
    request.resume();
    return;
  }
  request.resume();
  request.on('end', () => response.json({ id: request.query.id, status: request.query.status }));
});
listen(app);
