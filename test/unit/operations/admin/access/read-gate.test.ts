import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { asProblem, type ProblemCode } from '../../../../../src/domain/problem.js';
import {
  createReadGate,
  type ReadGate,
  type ReadGateOptions,
} from '../../../../../src/operations/admin/access/gates.js';
import { until } from '../../../../support/until.js';

interface Read {
  readonly question: string;
  readonly signal: AbortSignal;
  end(answer?: string): void;
}

let server: http.Server;
let gate: ReadGate;
let reads: Read[];
let asked: number;
let refused: ProblemCode[];

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A port whose answers a test gives. The path is the question. */
async function serve(options: ReadGateOptions = {}): Promise<void> {
  gate = createReadGate(options);
  reads = [];
  asked = 0;
  refused = [];
  server = http.createServer((request, response) => {
    asked += 1;
    const question = request.url ?? '';
    const read = (signal: AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        reads.push({ question, signal, end: (answer = 'done') => resolve(answer) });
      });
    gate(response, read).then(
      (answer) => response.end(answer),
      (error: unknown) => {
        const { code, status } = asProblem(error);
        refused.push(code);
        response.writeHead(status).end(code);
      },
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

function ask(path: string) {
  const leaving = new AbortController();
  const { port } = server.address() as AddressInfo;
  const answer = fetch(`http://127.0.0.1:${port}${path}`, { signal: leaving.signal }).then(
    async (response) => `${response.status} ${await response.text()}`,
    () => 'left',
  );
  return { answer, leave: () => leaving.abort() };
}

describe("operators' reads", () => {
  it('are at most eight at once, and the next one begins when one ends', async () => {
    await serve({ patience: 60_000 });
    const answers = Array.from({ length: 12 }, (_, n) => ask(`/q${n}`).answer);
    await until(() => asked === 12);
    expect(reads).toHaveLength(8);
    reads[3]?.end();
    await until(() => reads.length === 9);
    for (let n = 0; n < 12; n += 1) {
      await until(() => reads.length > n);
      reads[n]?.end();
    }
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['200 done']));
  });

  it('are two at once beside callbacks, and the others do not lose their place', async () => {
    let receiving = true;
    await serve({ patience: 20, isReceiving: () => receiving });
    const answers = Array.from({ length: 8 }, (_, n) => ask(`/q${n}`).answer);
    await until(() => asked === 8);
    expect(reads).toHaveLength(2);
    // The patience of one beyond eight ends before theirs.
    expect(await ask('/ninth').answer).toBe('503 overloaded');
    reads[0]?.end();
    await until(() => reads.length === 3);
    receiving = false;
    reads[1]?.end();
    await until(() => reads.length === 8);
    for (const { end } of reads) end();
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['200 done']));
  });

  it('end when the client disconnects', async () => {
    await serve({ slots: 1, patience: 60_000 });
    const client = ask('/a');
    await until(() => reads.length === 1);
    client.leave();
    await until(() => reads[0]?.signal.aborted === true);
    // The slot is free again, and nobody gets the answer of a read that was ended.
    const next = ask('/a');
    await until(() => reads.length === 2);
    reads[1]?.end();
    expect(await next.answer).toBe('200 done');
  });

  it('do not begin for a client that disconnects while it waits', async () => {
    await serve({ slots: 1, patience: 60_000 });
    const first = ask('/a').answer;
    const leaving = ask('/b');
    await until(() => asked === 2);
    leaving.leave();
    await until(() => refused.length === 1);
    reads[0]?.end();
    await first;
    const next = ask('/c').answer;
    await until(() => reads.length === 2);
    expect(reads[1]?.question).toBe('/c');
    reads[1]?.end();
    await next;
  });
});
