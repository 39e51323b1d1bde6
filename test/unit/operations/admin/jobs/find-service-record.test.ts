import { describe, expect, it } from '@jest/globals';
import { findServiceRecord, redact } from '../../../../../src/operations/admin/jobs/find-service-record.js';
import { SpeechError } from '../../../../../src/speech/speech-error.js';

describe("the service's record", () => {
  it('drops credentials and keeps what explains the job', () => {
    const record = {
      id: 'j1',
      config: {
        fetch_data: {
          url: 'https://u:pw@media.example/a.wav?X-Amz-Signature=s3cret&x=1#frag',
          auth_headers: ['Authorization: Bearer s3cret'],
        },
        notification_config: [
          { url: 'https://here.example/callbacks/a?id=1', auth_headers: ['X-Token: s3cret'] },
        ],
        api_key: 's3cret',
      },
      errors: [{ message: 'error fetching https://media.example/a.wav?sig=s3cret: 403', timestamp: 't' }],
      duration: 5,
      tracking: null,
    };
    const shown = redact(record);
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|pw@/);
    expect(shown).toMatchObject({
      id: 'j1',
      duration: 5,
      tracking: null,
      config: {
        fetch_data: {
          url: 'https://[redacted]@media.example/a.wav?[redacted]',
          auth_headers: ['Authorization: [redacted]'],
        },
      },
      errors: [
        { message: expect.stringMatching(/^error fetching https:\/\/media\.example\/a\.wav\?\[redacted\]/) },
      ],
    });
  });

  it.each([
    ['https://user:p@ssS3CRET@host/a', 'https://[redacted]@host/a'],
    ['https://user:p@ss/S3CRET@host/a', '[redacted]'],
    ['https://user:12/S3CRET@host/a', '[redacted]'],
    ['//user:S3CRET@host/a', '//[redacted]@host/a'],
    ['https:\\\\user:S3CRET@host/a', 'https://[redacted]@host/a'],
    ['\\\\user:S3CRET@host/a?sig=S3CRET', '//[redacted]@host/a?[redacted]'],
    ['https://user:S3CRET@[host', '[redacted]'],
    [
      'failed (https://user:"S3CRET"@host/a): 403',
      expect.stringMatching(/^failed \(https:\/\/\[redacted\]@host\/a/),
    ],
    ['https://media.example/a.wav', 'https://media.example/a.wav'],
  ])('shows no part of a secret in %s', (url, shown) => {
    expect(redact({ url })).toEqual({ url: shown });
  });

  it('shows no header line without a name', () => {
    expect(redact({ auth_headers: ['S3CRET', 'Basic S3CRET:x', 'X-Token: S3CRET'] })).toEqual({
      auth_headers: ['[redacted]', '[redacted]', 'X-Token: [redacted]'],
    });
  });

  it('is requested only from its region when that is known', async () => {
    const asked: string[] = [];
    const record = async (region: string) => {
      asked.push(region);
      if (region !== 'us1') throw new Error('not here');
      return { id: 'j1' };
    };
    const source = { regions: ['eu1', 'us1'], within: 60_000, record };
    const found = { service: { region: 'us1', record: { id: 'j1' } }, serviceAnswer: 'found' };
    expect(await findServiceRecord(source, 'j1', 'us1')).toEqual(found);
    expect(asked).toEqual(['us1']);
    expect(await findServiceRecord(source, 'j1', null)).toEqual(found);
  });

  it('is not awaited beyond the time-out', async () => {
    const source = { regions: ['eu1'], within: 10, record: () => new Promise<object>(() => {}) };
    expect(await findServiceRecord(source, 'j1', null)).toEqual({
      service: null,
      serviceAnswer: 'unreachable',
    });
  });

  it.each([
    ['unknown', ['not-found', 'gone']],
    ['unreachable', ['not-found', 'network']],
    ['unreachable', ['not-found', 'unauthorised']],
    ['not-configured', ['configuration', 'configuration']],
    ['not-configured', []],
  ] as const)('is missing as %s when its regions fail with %j', async (serviceAnswer, kinds) => {
    const record = async (region: string) => {
      throw new SpeechError(kinds[Number(region)] ?? 'network', 'get a job', 'failed');
    };
    const source = { regions: kinds.map((_, index) => String(index)), within: 60_000, record };
    expect(await findServiceRecord(source, 'j1', null)).toEqual({ service: null, serviceAnswer });
  });
});
