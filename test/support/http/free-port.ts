import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const given = new Set<number>();

/** Jest's workers pick ports at the same time: each has a range of its own. */
const WORKERS = 10;
const WORKER = Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS;

/**
 * An unused port, another one with each call. It is below the ephemeral range, from which the system takes ports for outgoing connections
 * and for `port: 0`, so that it is still free when the caller listens, or listens again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = WORKERS * randomInt(2_000, 3_200) + WORKER;
    if (given.has(port)) continue;
    const server = createServer().listen(port);
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    given.add(port);
    return port;
  }
}
