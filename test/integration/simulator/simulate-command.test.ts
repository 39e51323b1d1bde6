import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createCommand } from '../../../src/cli/simulate.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';

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
  ])('refuses %s %s', async (...args) => {
    await expect(run(...args)).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });
});
