import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { ReceiverEvent } from '../../subscribers/receiver-event.js';

/** The next system: it is sent events, and verifies them as docs/downstream.md shows. */
export interface DemoSubscriber {
  readonly settings: { readonly url: string; readonly secrets: readonly string[] };
  /** The verified events of these jobs, once each job has one; those so far after ten seconds. */
  eventsOf(jobIds: readonly string[]): Promise<ReceiverEvent[]>;
  close(): Promise<void>;
}

const LONGEST_WAIT = 10_000;

export async function openDemoSubscriber(): Promise<DemoSubscriber> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const events = new Map<string, ReceiverEvent>();
  const server = createServer(async (request, response) => {
    try {
      const headers = request.headers as Record<string, string>;
      const event = webhook.verify(await buffer(request), headers) as ReceiverEvent;
      events.set(event.id, event);
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    settings: { url: `http://127.0.0.1:${port}/events`, secrets: [secret] },
    async eventsOf(jobIds) {
      const found = () => [...events.values()].filter(({ subject = '' }) => jobIds.includes(subject));
      const deadline = performance.now() + LONGEST_WAIT;
      while (new Set(found().map(({ subject }) => subject)).size < jobIds.length) {
        if (performance.now() > deadline) break;
        await sleep(50);
      }
      return found();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
