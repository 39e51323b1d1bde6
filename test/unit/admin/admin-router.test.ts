import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { SignInRefusal } from '../../../src/admin/access/failed-sign-ins.js';
import { createAdminRouter } from '../../../src/admin/admin-router.js';

let release: () => void;
let held: Promise<void> | null;
let server: Server;
let url: string;

beforeAll(async () => {
  const refuse = (): never => {
    throw new SignInRefusal('too-many-attempts', 'Too many.', held);
  };
  const router = createAdminRouter({
    routes: [],
    signIn: { bearer: refuse, ticket: refuse, issueTicket: refuse },
    changes: { pass: (_response, change) => change() },
    onUnexpected: () => {},
  });
  server = createServer(express().use(router)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/anything`;
});

afterAll(() => void server.close());

describe('a refused sign-in', () => {
  it('is answered when it was held long enough, and not before', async () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
    let answered = false;
    const arrived = once(server, 'request');
    const answer = fetch(url).finally(() => {
      answered = true;
    });
    await arrived;
    // An answer that did not wait would be here by now: others make the whole way meanwhile.
    held = Promise.resolve();
    for (let round = 0; round < 5; round += 1) await fetch(url, { headers: { connection: 'close' } });
    expect(answered).toBe(false);
    release();
    expect((await answer).status).toBe(429);
  });

  it('loses its connection when no more can be held', async () => {
    held = null;
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('connection')]).toEqual([429, 'close']);
  });
});
