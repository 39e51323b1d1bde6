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

/** A port whose answers a test gives. The path is the question; `/own…` shares none, `/urgent…` waits in no line. */
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
    const passing = question.startsWith('/urgent')
      ? gate.share(question, response, read)
      : gate.pass(question.startsWith('/own') ? null : question, response, read);
    passing.then(
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

  it('hold up none that is urgent, which is shared as well', async () => {
    await serve({ slots: 1, patience: 60_000 });
    const first = ask('/a').answer;
    await until(() => reads.length === 1);
    const urgent = [ask('/urgent').answer, ask('/urgent').answer];
    await until(() => asked === 3);
    expect(reads.map(({ question }) => question)).toEqual(['/a', '/urgent']);
    reads[1]?.end();
    expect(await Promise.all(urgent)).toEqual(['200 done', '200 done']);
    reads[0]?.end();
    expect(await first).toBe('200 done');
  });

  it('share one answer where the questions are equal, unless something was changed in between', async () => {
    await serve();
    const equal = Array.from({ length: 20 }, () => ask('/same').answer);
    await until(() => asked === 20);
    expect(reads).toHaveLength(1);
    gate.changed();
    const later = ask('/same').answer;
    const own = [ask('/own').answer, ask('/own').answer];
    await until(() => reads.length === 4);
    reads[0]?.end('before');
    expect(new Set(await Promise.all(equal))).toEqual(new Set(['200 before']));
    // The question that is read still has its answer to share.
    const joined = ask('/same').answer;
    await until(() => asked === 24);
    for (const { question, end } of reads.slice(1)) end(question === '/same' ? 'after' : 'own');
    expect(await Promise.all([later, joined, ...own])).toEqual([
      ...['200 after', '200 after', '200 own', '200 own'],
    ]);
    expect(reads).toHaveLength(4);
  });

  it('end when the last client that waits for the answer disconnects', async () => {
    await serve({ slots: 1, patience: 60_000 });
    const clients = [ask('/a'), ask('/a')];
    await until(() => asked === 2);
    clients[0]?.leave();
    await until(() => refused.length === 1);
    expect(reads[0]?.signal.aborted).toBe(false);
    clients[1]?.leave();
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
