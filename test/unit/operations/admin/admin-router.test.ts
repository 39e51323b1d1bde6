import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import supertest from 'supertest';
import { createReadGate } from '../../../../src/operations/admin/access/gates.js';
import { SignInRefusal } from '../../../../src/operations/admin/access/sign-in.js';
import { createAdminRouter } from '../../../../src/operations/admin/admin-router.js';

let release: () => void;
let held: Promise<void> | null;
let server: Server;

beforeAll(async () => {
  const refuse = (): never => {
    throw new SignInRefusal('too-many-attempts', 'Too many.', held);
  };
  const router = createAdminRouter({
    routes: [],
    signIn: {
      authenticate: refuse,
      ticket: refuse,
      issueTicket: refuse,
    },
    changes: { pass: (_response, change) => change() },
    admitChange: async () => {},
    reads: createReadGate(),
    onSignedIn: () => {},
    onUnexpected: () => {},
    limits: {
      idleTimeout: 1_000,
      totalTimeout: 1_000,
      minBytesPerSecond: 0,
      minRateGrace: 1_000,
    },
  });
  server = createServer(express().use(router)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
});

describe('a refused sign-in', () => {
  it('is answered after the full delay, and not before', async () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
    let answered = false;
    const arrived = once(server, 'request');
    const answer = supertest(server)
      .get('/anything')
      .then(({ status }) => {
        answered = true;
        return status;
      });
    await arrived;
    // An answer that did not wait would be here by now: others make the whole way meanwhile.
    held = Promise.resolve();
    for (let round = 0; round < 5; round += 1) await supertest(server).get('/anything');
    expect(answered).toBe(false);
    release();
    expect(await answer).toBe(429);
  });

  it('is disconnected when no more responses can be delayed', async () => {
    held = null;
    await supertest(server).get('/anything').expect(429).expect('connection', 'close');
  });
});
