/**
 * A speech service whose job list is computed instead of kept. Runs as a process of its own, so that its work is not
 * counted as the client's:
 *
 *   node computed-service.mjs <jobs> <milliseconds between jobs> <newest, milliseconds since the epoch> <latency>
 *
 * Prints its address. `GET /count` tells how many pages and transcripts were requested.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ten characters that look random, as the service's ids do. */
function jobIdOf(n) {
  const mixed = (BigInt(n) * 0x9e3779b97f4a7c15n + 0x1234567n) & 0xffffffffffffffffn;
  return mixed.toString(36).padStart(13, '0').slice(-10) + n.toString(36);
}

function recordOf(createdAt, step) {
  const n = Math.floor(createdAt / step);
  return {
    id: jobIdOf(n),
    status: 'done',
    created_at: new Date(createdAt).toISOString(),
    data_name: `recording-${n}.wav`,
    duration: 120,
    config: {
      type: 'transcription',
      transcription_config: { language: 'en', model: 'standard' },
      notification_config: [
        {
          url: 'https://receiver.example.com/callbacks/default',
          contents: ['transcript'],
          auth_headers: ['X-Token: 0123456789abcdef'],
        },
      ],
    },
  };
}

function transcriptOf(id) {
  return { format: '2.9', job: { id }, metadata: { type: 'transcription' }, results: [] };
}

function serve(jobs, step, newest, latency) {
  const count = { pages: 0, transcripts: 0 };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service');
    const answer = (body) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (pathname === '/count') return answer(count);
    await sleep(latency);
    const [, id] = /^\/v2\/jobs\/([^/]+)\/transcript$/.exec(pathname) ?? [];
    if (id !== undefined) {
      count.transcripts += 1;
      return answer(transcriptOf(id));
    }
    count.pages += 1;
    const before = searchParams.get('created_before');
    // The list goes from new to old: job n was created n steps before the newest.
    const first = before === null ? 0 : Math.max(0, Math.floor((newest - Date.parse(before)) / step) + 1);
    const last = Math.min(jobs, first + Number(searchParams.get('limit') ?? 100));
    const page = [];
    for (let n = first; n < last; n += 1) page.push(recordOf(newest - n * step, step));
    answer({ jobs: page });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
}

serve(...process.argv.slice(2).map(Number));
