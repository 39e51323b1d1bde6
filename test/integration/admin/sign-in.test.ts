import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { type AdminApi, adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

let service: RunningService;
let api: AdminApi;

beforeAll(async () => {
  service = await startService();
  api = adminApi(service);
});

afterAll(() => service.stop());

/** Failed attempts a minute that are answered at once. */
const RATE = 100;
const GUESSES = 220;
const guess = (n: number) => adminApi(service, `guess-number-${n}-of-a-token`).get('/health');

describe('guessing the admin token', () => {
  it('is answered 429 over the rate, while the right token passes', async () => {
    const within = await Promise.all(Array.from({ length: RATE }, (_, n) => guess(n)));
    expect(new Set(within.map(({ status }) => status))).toEqual(new Set([401]));
    const beyond = Promise.all(Array.from({ length: GUESSES - RATE }, (_, n) => guess(RATE + n)));
    expect((await api.get('/health')).status).toBe(200);
    const answers = await beyond;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect((await api.get('/health')).status).toBe(200);
  });

  it('is counted, listed with its peer, and logged at a bounded rate, without what was guessed', async () => {
    const { body, text: listed } = await api.get('/refusals?limit=500');
    const tried = body.refusals.filter(({ reason }: { reason: string }) => reason === 'sign-in-wrong');
    // They have room of their own, so that a flood of them drives out nothing else.
    expect(tried).toHaveLength(200);
    expect(tried[0]).toMatchObject({ source: null, clientIp: '127.0.0.1', authenticated: false });

    const { text: metrics } = await supertest(service.adminUrl).get('/metrics');
    expect(metrics).toContain(`transcript_receiver_sign_in_failures_total{cause="wrong"} ${GUESSES}`);

    const logged = service.log.filter(
      ({ event, reason }) => event === 'refused' && reason === 'sign-in-wrong',
    );
    expect(logged[0]).toMatchObject({ clientIp: '127.0.0.1' });
    expect(logged.length).toBeLessThan(GUESSES / 2);
    for (const text of [listed, metrics, JSON.stringify(service.log)]) {
      expect(text).not.toContain('guess-number');
    }
  });
});
