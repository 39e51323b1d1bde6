import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createCommand } from '../../../src/cli/simulate.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';
import { PCM, rawClient, silence } from '../../support/realtime.js';

let receiver: RecordingServer;

beforeEach(async () => {
  receiver = await recordingServer();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await receiver.close();
});

async function run(...args: string[]): Promise<Record<string, unknown>[]> {
  const printed = jest.spyOn(console, 'log').mockImplementation(() => {});
  await createCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(args, { from: 'user' });
  return printed.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
}

describe('simulate', () => {
  it('submits a load, and reports each job and the totals', async () => {
    const load = ['--jobs', '12', '--rate', '1000', '--failures', '0.3', '--fault', 'drop=0.3'];
    const mix = ['--contents', 'transcript,jobinfo', '--contents', 'none', '--contents', 'absent'];
    const events = await run(
      '--callback',
      `${receiver.url}/callbacks/default`,
      '--auth-header',
      'X-Token: s',
      ...load,
      ...mix,
      '--seed',
      'a',
      '--exit',
      '--json',
    );
    expect(events[0]).toMatchObject({ event: 'started', seed: 'a', apiKey: 'simulated-a' });
    const jobs = events.filter(({ event }) => event === 'job');
    const finished = events.at(-1) as { notifications: Record<string, number>; failed: number };
    expect(jobs).toHaveLength(12);
    expect(finished).toMatchObject({ event: 'finished', jobs: 12 });
    expect(finished.failed).toBe(jobs.filter(({ status }) => status !== 'success').length);
    expect(finished.failed).toBeGreaterThan(0);
    expect(finished.notifications.dropped).toBeGreaterThan(0);
    expect(receiver.requests).toHaveLength(finished.notifications.delivered ?? -1);
    expect(receiver.requests.every(({ headers }) => headers['x-token'] === 's')).toBe(true);
  });

  it('sends bodies in the variant that is asked for', async () => {
    await run(
      ...[
        '--callback',
        `${receiver.url}/`,
        '--jobs',
        '1',
        '--rate',
        '1000',
        '--contents',
        'data',
        '--exit',
        '--json',
      ],
      ...['--variant', 'loneData=raw', '--variant', 'framing=chunked', '--processing', '1'],
    );
    expect(receiver.requests[0]?.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'transfer-encoding': 'chunked',
    });
  });

  it('serves live sessions of the languages, at the pace and with the leniency that is asked for', async () => {
    let ending: Promise<unknown> | null = null;
    jest.spyOn(console, 'log').mockImplementation((line: string) => {
      const { event, realtimeUrl: origin, apiKey } = JSON.parse(line);
      if (event === 'started') ending = flood(origin, apiKey).finally(() => process.emit('SIGINT'));
    });
    const flood = async (origin: string, apiKey: string) => {
      const client = await rawClient({ origin }, '/v2/nl', apiKey);
      const config = { language: 'nl', operating_point: 'enhanced' };
      client.send({ message: 'StartRecognition', audio_format: PCM, transcription_config: config });
      await client.until('RecognitionStarted');
      for (let second = 0; second < 20; second += 1) client.send(silence(1));
      return client.until('Error');
    };
    await createCommand().parseAsync(
      ['--json', '--lenient', '--language', 'nl', '--language', 'en', '--realtime-speed', '0.001'],
      { from: 'user' },
    );
    // Processed on arrival, no audio would ever be too far ahead.
    expect(await ending).toMatchObject({ type: 'buffer_error' });
  });

  it.each([
    ['nowhere', 'X-Token: s'],
    ['http://127.0.0.1/', 'no header line'],
  ])('refuses to call %s with %s before it starts', async (callback, line) => {
    const work = run('--callback', callback, '--auth-header', line, '--jobs', '1', '--exit');
    await expect(work).rejects.toMatchObject({ name: 'UsageError' });
  });

  it.each([[['--jobs', '3']], [['--exit']], [['--jobs', '3', '--exit']]])(
    'refuses %j without an address to call, for nothing would ever happen',
    async (args) => {
      await expect(run(...args)).rejects.toMatchObject({ name: 'UsageError' });
    },
  );

  it.each([
    ['--fault', 'explode=1'],
    ['--fault', 'drop=2'],
    ['--fault', 'constructor=1'],
    ['--contents', 'pdf'],
    ['--region', 'Mars=0'],
    ['--region', 'eu1=65536'],
    ['--keys-port', '65536'],
    ['--realtime-port', '65536'],
    ['--rate', '0'],
    ['--jobs', '-1'],
    ['--method', 'GET'],
    ['--variant', 'loneData=none'],
    ['--variant', 'constructor=raw'],
    ['--realtime-speed', '0'],
    ['--processing', '-1'],
  ])('refuses %s %s', async (...args) => {
    await expect(run(...args)).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });
});
