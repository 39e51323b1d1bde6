import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { CredentialChain } from '../../../../src/store/s3/credential-chain.js';
import { noAnswer, S3Failure } from '../../../../src/store/s3/s3-failure.js';
import type { S3StandIn } from '../../../support/store/s3-stand-in.js';
import { openStandInStore } from '../../../support/store/stand-in-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };
const NAMES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

describe('keys that the store refuses after they were rotated', () => {
  const before = { ...process.env };
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let place: Awaited<ReturnType<typeof openStandInStore>>;
  let store: ObjectStore;
  let standIn: S3StandIn;
  let valid: string;
  let code: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    for (const name of NAMES) delete process.env[name];
    process.env.AWS_EC2_METADATA_DISABLED = 'true';
    process.env.AWS_CONFIG_FILE = join(folder.path, 'config');
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder.path, 'credentials');
    [valid, code] = ['AKIAFIRST', 'InvalidAccessKeyId'];
  });
  afterEach(async () => {
    for (const name of NAMES) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await place.close();
    await folder.remove();
  });

  async function open(): Promise<void> {
    place = await openStandInStore({ accessKeyId: null, secretAccessKey: null });
    ({ store, standIn } = place);
    standIn.misbehave = ({ headers }) =>
      String(headers.authorization).includes(`Credential=${valid}/`)
        ? null
        : { kind: 'answer', status: 403, code };
  }

  const writeKeys = (id: string, token = '') =>
    writeFile(
      process.env.AWS_SHARED_CREDENTIALS_FILE ?? '',
      `[default]\naws_access_key_id = ${id}\naws_secret_access_key = secret-of-${id}\n${token}`,
    );

  it.each(['InvalidAccessKeyId', 'ExpiredToken', 'SignatureDoesNotMatch'])(
    'are read from the file again on every way to the store: %s',
    async (refusal) => {
      code = refusal;
      await writeKeys(valid);
      await open();
      await store.create('a', Buffer.from('a'), HEADERS);
      const ways: (() => Promise<unknown>)[] = [
        () => store.create('b', Buffer.from('b'), HEADERS),
        () => store.head('a'),
        async () => buffer((await store.read('a'))?.body ?? Readable.from([])),
        () => store.list('')[Symbol.asyncIterator]().next(),
        () => store.delete('a'),
      ];
      for (const [number, way] of ways.entries()) {
        // Renewals have a pause between them; each way has a store of its own.
        await place.close();
        await writeKeys('AKIAFIRST', 'aws_session_token = old');
        valid = 'AKIAFIRST';
        await open();
        await store.create('a', Buffer.from('a'), HEADERS);
        valid = `AKIA${number}`;
        await writeKeys(valid);
        await way();
        const last = standIn.requests.at(-1)?.headers ?? {};
        expect(last.authorization).toContain(`Credential=${valid}/`);
        expect(last['x-amz-security-token']).toBeUndefined();
      }
    },
  );

  it('are asked of the provider once for any number of refused requests', async () => {
    let asked = 0;
    let given = 'AKIAFIRST';
    const provider: Server = createServer((_, response) => {
      asked += 1;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ AccessKeyId: given, SecretAccessKey: 'secret', Token: 'token', Expiration }),
      );
    });
    await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`;
    await open();
    const write = (n: number) => store.create(`k${n}`, Buffer.from('a'), HEADERS);
    const writeMany = () =>
      Promise.allSettled(Array.from({ length: 20 }, (_, n) => write(n))).then((results) =>
        results.map(({ status }) => status),
      );
    expect(new Set(await writeMany())).toEqual(new Set(['fulfilled']));
    expect(asked).toBe(1);
    // The store knows the new keys before the provider does.
    valid = 'AKIASECOND';
    expect(new Set(await writeMany())).toEqual(new Set(['rejected']));
    expect(new Set(await writeMany())).toEqual(new Set(['rejected']));
    expect(asked).toBe(2);
    given = valid;
    await place.close();
    await open();
    expect(new Set(await writeMany())).toEqual(new Set(['fulfilled']));
    await new Promise((closed) => provider.close(closed));
  });
});

describe('a renewal of credentials', () => {
  const keys = (id: string) => ({ accessKeyId: id, secretAccessKey: 'secret' });
  const refusal = new S3Failure({ status: 403, code: 'InvalidAccessKeyId' });
  let now: number;
  let asked: number;
  let given: string;
  const renewal = () =>
    new CredentialChain(
      async () => {
        asked += 1;
        return keys(given);
      },
      () => now,
    );
  beforeEach(() => {
    [now, asked, given] = [0, 0, 'old'];
  });

  it('asks again after a pause until the provider has others', async () => {
    const renewed = renewal();
    for (; now < 10_000; now += 100) expect(await renewed.renewAfter(refusal, keys('old'))).toBeNull();
    expect(asked).toBe(2);
    given = 'new';
    expect(await renewed.renewAfter(refusal, keys('old'))).toEqual(keys('new'));
    // Requests that were under way with the old ones.
    expect(await renewed.renewAfter(refusal, keys('old'))).toEqual(keys('new'));
    expect(asked).toBe(3);
  });

  it.each([
    ['access to something is denied', new S3Failure({ status: 403, code: 'AccessDenied' })],
    ['the clock is wrong', new S3Failure({ status: 403, code: 'RequestTimeTooSkewed' })],
    ['the store fails', new S3Failure({ status: 500, code: 'InternalError' })],
    ['there was no answer', noAnswer('ECONNRESET', 'reset')],
    ['an object is missing', new S3Failure({ status: 404, code: 'no error code' })],
  ])('asks nothing when %s', async (_, failure) => {
    expect(await renewal().renewAfter(failure, keys('old'))).toBeNull();
    expect(asked).toBe(0);
  });

  it('is tried for a HEAD, whose answer has no code', async () => {
    given = 'new';
    const failure = new S3Failure({ status: 400, code: 'no error code' });
    expect(await renewal().renewAfter(failure, keys('old'))).toEqual(keys('new'));
  });
});
