/**
 * The sending side, in a process of its own: messages tell it what to send, and it replies with counts and latencies.
 * `groups` run at the same time. Says `measuring` when the warm-up is over, so that the caller reads its counters then.
 */

import { bodyOf } from './bodies.mjs';
import { createConnection } from './connection.mjs';

process.on('message', async (order) => {
  try {
    const results = await run(order);
    process.send({ kind: 'done', results });
  } catch (error) {
    process.send({ kind: 'failed', message: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));

async function run({ groups, warmUpMs, measureMs }) {
  const start = performance.now();
  const from = start + warmUpMs;
  const until = measureMs === null ? Number.POSITIVE_INFINITY : from + measureMs;
  const timer = setTimeout(() => process.send({ kind: 'measuring' }), warmUpMs);
  const results = await Promise.all(groups.map((group, index) => runGroup(group, `${index}`, from, until)));
  clearTimeout(timer);
  return results;
}

async function runGroup(group, name, from, until) {
  const start = performance.now();
  const latencies = [];
  const statuses = {};
  const body = bodyOf(group.body);
  let sent = 0;
  let finished = from;

  async function work() {
    const connection = createConnection(group.port);
    while (performance.now() < until && sent < (group.count ?? Number.POSITIVE_INFINITY)) {
      const number = sent++;
      if (group.perSecond) await due(start + (number * 1000) / group.perSecond);
      const id = `${group.idPrefix}${name}-${group.distinct ? number % group.distinct : number}`;
      const began = performance.now();
      const { status } = await send(connection, group, body, id);
      const now = performance.now();
      // What was answered within the window counts, whenever it began: so writes per answer come out right.
      if (now < from || now > until) continue;
      finished = Math.max(finished, now);
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.push(now - began);
      if (status === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    connection.close();
  }

  await Promise.all(Array.from({ length: group.connections }, work));
  latencies.sort((a, b) => a - b);
  const at = (share) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? null;
  return {
    count: latencies.length,
    statuses,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    seconds: (Math.min(finished, until) - from) / 1000,
    bytes: ((statuses[200] ?? 0) + (statuses[201] ?? 0)) * body.length,
  };
}

/** At a steady rate a late request is sent at once: the rate holds on average. */
function due(time) {
  const wait = time - performance.now();
  return wait > 1 ? new Promise((resolve) => setTimeout(resolve, wait)) : null;
}

function send(connection, group, body, id) {
  const path = group.path.replace('{id}', id);
  const extra = Object.entries({ 'Content-Type': body.type, ...group.headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n${extra.join('')}\r\n`;
  return body.bytes === null
    ? connection.stream(head, body.before, body.chunk, body.size, body.after)
    : connection.send(head, body.bytes);
}
