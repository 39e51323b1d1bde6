import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../../src/store/object-store.js';
import { CredentialChain } from '../../../../src/store/s3/credential-chain.js';
import { openStandInStore } from '../../../support/store/stand-in-store.js';

const MINUTE = 60_000;

describe('credentials of a session', () => {
  let now: number;
  let asked: number;
  let answer: () => Promise<{ accessKeyId: string; secretAccessKey: string; expiration: Date }>;
  const session = (name: string, expires: number) => ({
    accessKeyId: name,
    secretAccessKey: 'secret',
    expiration: new Date(expires),
  });
  const credentials = () => {
    const chain = new CredentialChain(
      () => {
        asked += 1;
        return answer();
      },
      () => now,
    );
    return () => chain.get();
  };

  beforeEach(() => {
    now = 0;
    asked = 0;
    answer = async () => session('first', 60 * MINUTE);
  });

  it('are requested once while they are valid', async () => {
    const get = credentials();
    const held = await Promise.all([get(), get(), get()]);
    now = 54 * MINUTE;
    expect((await get()).accessKeyId).toBe('first');
    expect(held.every(({ accessKeyId }) => accessKeyId === 'first')).toBe(true);
    expect(asked).toBe(1);
  });

  it('are not asked for with every request in their last minutes when no newer ones are given', async () => {
    const get = credentials();
    await get();
    for (now = 55 * MINUTE + 1; now < 60 * MINUTE; now += 100) {
      await get();
      await turn();
    }
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(40);
  });

  it('are asked for in their last minutes although the last question came from a clock that was ahead', async () => {
    const get = credentials();
    now = 60 * MINUTE;
    answer = async () => session('first', 4 * MINUTE);
    await get();
    now = MINUTE;
    answer = async () => session('second', 120 * MINUTE);
    await get();
    await turn();
    expect((await get()).accessKeyId).toBe('second');
  });

  it('are replaced as soon as newer ones are given, without a request waiting for them', async () => {
    const get = credentials();
    await get();
    now = 56 * MINUTE;
    let give: () => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        give = () => resolve(session('second', 120 * MINUTE));
      });
    expect((await get()).accessKeyId).toBe('first');
    give();
    await turn();
    expect((await get()).accessKeyId).toBe('second');
    expect(asked).toBe(2);
  });

  it('outlive a provider that fails, to their end', async () => {
    const get = credentials();
    await get();
    answer = () => Promise.reject(new Error('away'));
    now = 59 * MINUTE;
    expect((await get()).accessKeyId).toBe('first');
    now = 60 * MINUTE;
    await expect(get()).rejects.toThrow('away');
  });
});

describe('a chain of providers that gives nothing', () => {
  const VARIABLES = {
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_PROFILE: 'nobody',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
    AWS_CONFIG_FILE: '/nonexistent/config',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_WEB_IDENTITY_TOKEN_FILE: undefined,
    AWS_ROLE_ARN: undefined,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: undefined,
  } as const;
  const before = { ...process.env };

  function apply(variables: Record<string, string | undefined>): void {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  beforeEach(() => apply(VARIABLES));
  afterEach(() => apply(Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, before[name]]))));

  const noCredentials = { accessKeyId: null, secretAccessKey: null, retries: 0 };

  it('says which of them failed, and why, on every way to the store', async () => {
    const { store, standIn, close } = await openStandInStore(noCredentials);
    const words = /no credentials were found \(.*\[nobody\].*Web identity/;
    try {
      await expect(store.head('k')).rejects.toThrow(words);
      await expect(store.read('k')).rejects.toThrow(words);
      expect(standIn.requests).toEqual([]);
    } finally {
      await close();
    }
  });

  it('never makes an object absent, and is tried again', async () => {
    process.env.AWS_WEB_IDENTITY_TOKEN_FILE = '/nonexistent/token';
    process.env.AWS_ROLE_ARN = 'arn:aws:iam::123456789012:role/none';
    delete process.env.AWS_PROFILE;
    const { store, close } = await openStandInStore(noCredentials);
    try {
      await expect(store.head('k')).rejects.toThrow(StoreError);
      await expect(store.head('k')).rejects.toThrow(/ENOENT.*nonexistent\/token/);
      process.env.AWS_ACCESS_KEY_ID = 'AKIATEST';
      process.env.AWS_SECRET_ACCESS_KEY = 'very-secret-key';
      expect(await store.head('k')).toBeNull();
    } finally {
      await close();
    }
  });
});
