import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RealtimeSimulator } from '../../src/simulator/realtime/realtime-interface.js';
import type { FaultAct } from '../../src/simulator/realtime/session-script.js';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { PROGRAM_ENVIRONMENT } from '../support/processes/program-environment.js';
import type { CliResult } from '../support/processes/run-cli.js';
import { runCommand } from '../support/processes/run-command.js';
import { API_KEY, silence, withSimulator } from '../support/realtime.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/* The capture command as its user runs it: the built binary, a real file store, the simulated service. */

const BINARY = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const RAW = ['--encoding', 'pcm_s16le', '--sample-rate', '16000'];
const EXIT_INCOMPLETE = 4;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let data: string;
let speech: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  data = join(folder.path, 'data');
  speech = join(folder.path, 'speech.pcm');
  await writeFile(speech, silence(6));
});

afterEach(() => folder.remove());

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly done: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Settles when standard error holds the text. */
  said(text: string): Promise<void>;
  /** Settles when standard output holds the text. */
  printed(text: string): Promise<void>;
}

function environment(simulator: RealtimeSimulator | null, settings: object = {}): Record<string, string> {
  const config = {
    store: { url: `file:${data}`, partSize: '64KiB' },
    limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
    sources: { default: {}, calls: { keyPrefix: 'calls/' } },
    speech: { apiKey: API_KEY, realtime: simulator === null ? {} : { eu: simulator.origin } },
    ...settings,
  };
  return { ...PROGRAM_ENVIRONMENT, NODE_ENV: 'test', NODE_CONFIG: JSON.stringify(config) };
}

/** In a process that other captures share, for runs without signals and standard input. */
function captureFile(
  simulator: RealtimeSimulator | null,
  args: readonly string[],
  settings: object = {},
): Promise<CliResult> {
  return runCommand(['capture', ...args], environment(simulator, settings), folder.path);
}

function capture(
  simulator: RealtimeSimulator,
  args: readonly string[],
  variables: Record<string, string> = {},
  cwd = folder.path,
): Run {
  const env = { ...environment(simulator), ...variables };
  const child = spawn(process.execPath, [BINARY, 'capture', ...args], { env, cwd });
  let stdout = '';
  let stderr = '';
  let heard = (): void => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    heard();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    heard();
  });
  child.stdin.on('error', () => {});
  const done = new Promise<Awaited<Run['done']>>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
      heard();
    });
  });
  const holds = async (output: () => string, text: string): Promise<void> => {
    while (!output().includes(text) && child.exitCode === null) {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
    expect(output()).toContain(text);
  };
  return {
    child,
    done,
    said: (text) => holds(() => stderr, text),
    printed: (text) => holds(() => stdout, text),
  };
}

const read = (key: string): Promise<Buffer> => readFile(join(data, key));
const jsonOf = async (key: string) => JSON.parse(String(await read(key)));

describe('capture', () => {
  it('archives transcript.json and .txt under the session id, with origin realtime in the ledger', () =>
    withSimulator({}, async (simulator) => {
      const { code, stdout } = await captureFile(simulator, [
        speech,
        '--language',
        'en',
        ...RAW,
        '--source',
        'default',
      ]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: 'Welcome to this call we are glad.\nThat you could join us today let.\nUs\n',
      });
      const id = simulator.sessions[0]?.id;
      expect(await visibleKeys(data, 'jobs/')).toEqual(
        ['json', 'txt'].map((type) => `jobs/${id}/transcript.${type}`),
      );
      expect(await jsonOf(`jobs/${id}/transcript.json`)).toMatchObject({
        format: '2.9',
        job: { id, data_name: 'speech.pcm', duration: 6 },
        metadata: { realtime: { complete: true, region: 'eu1' } },
      });
      expect(String(await read(`jobs/${id}/transcript.txt`))).toBe(
        'Welcome to this call we are glad. That you could join us today let. Us\n',
      );
      expect(await ledgerOf(data)).toEqual([
        expect.objectContaining({
          v: 1,
          origin: 'realtime',
          source: 'default',
          region: 'eu1',
          jobId: id,
          status: 'success',
          outcome: 'stored',
          reason: null,
          bytes: 192_000,
        }),
      ]);
    }));

  it('archives under the key prefix of the source', () =>
    withSimulator({}, async (simulator) => {
      const { code } = await captureFile(simulator, [
        speech,
        '--language',
        'en',
        ...RAW,
        '--source',
        'calls',
      ]);
      expect(code).toBe(0);
      const folderOf = `calls/jobs/${simulator.sessions[0]?.id}`;
      expect(await visibleKeys(data, `${folderOf}/`)).toHaveLength(2);
      expect((await ledgerOf(data))[0]?.items.map(({ kind }) => kind)).toEqual([
        'transcript.json-v2',
        'transcript.txt',
      ]);
    }));

  it('sends an audio file as it is when no raw format is given', () =>
    withSimulator({}, async (simulator) => {
      const { code } = await captureFile(simulator, [speech, '--language', 'en']);
      expect(code).toBe(0);
      expect(simulator.sessions[0]?.received[0]).toContain('"audio_format":{"type":"file"}');
    }));

  it('prints one JSON document when asked', () =>
    withSimulator({}, async (simulator) => {
      const { code, stdout } = await captureFile(simulator, [speech, '--language', 'en', ...RAW, '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        jobId: simulator.sessions[0]?.id,
        status: 'success',
        outcome: 'stored',
        acknowledged: { frames: expect.any(Number), bytes: 192_000, seconds: 6 },
        items: [{ outcome: 'created' }, { outcome: 'created' }],
      });
    }));

  // Rule: Silences: `model` of a live session
  it('sends every field of a live session, also one beyond the specification, which the simulator refuses', () =>
    withSimulator({}, async (simulator) => {
      const args = [
        ...[
          '--language',
          'en',
          ...RAW,
          '--set',
          'enable_partials=true',
          '--set',
          'max_delay=4',
          '--set',
          'output_locale=en-GB',
        ],
        ...['--set', 'additional_vocab=[{"content":"gnocchi","sounds_like":["nyohki"]},"Zürich"]'],
        ...['--set', 'max_delay_mode=flexible', '--set', 'entities={"enabled":true}'],
      ];
      expect(await captureFile(simulator, [speech, ...args])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('max_delay_mode'),
      });
      expect(JSON.parse(String(simulator.sessions[0]?.received[0]))).toEqual({
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
        transcription_config: {
          language: 'en',
          enable_partials: true,
          max_delay: 4,
          output_locale: 'en-GB',
          additional_vocab: [{ content: 'gnocchi', sounds_like: ['nyohki'] }, 'Zürich'],
          max_delay_mode: 'flexible',
          entities: { enabled: true },
        },
      });
    }));

  it('captures agent sessions with their speakers', () =>
    withSimulator({}, async (simulator) => {
      const { code, stdout } = await captureFile(simulator, [speech, '--language', 'en', ...RAW, '--agent']);
      expect(code).toBe(0);
      expect(stdout).toContain('S1: Welcome to this call we are glad.\n');
      expect(simulator.upgrades[0]?.url).toBe('/v2/agent');
    }));

  it('ends properly on an interrupt and archives the whole transcript of what was heard', () =>
    withSimulator({}, async (simulator) => {
      const run = capture(simulator, ['-', '--language', 'en', ...RAW]);
      await run.said('Session');
      const heard = simulator.session(0).then((session) => session.whenReceived(96_000));
      run.child.stdin.write(silence(3));
      await heard;
      run.child.kill('SIGINT');
      const { code, stderr } = await run.done;
      expect({ code, stderr: stderr.includes('waiting for the rest of the transcript') }).toEqual({
        code: 0,
        stderr: true,
      });
      const id = simulator.sessions[0]?.id;
      expect(String(await read(`jobs/${id}/transcript.txt`))).toBe('Welcome to this call we are glad.\n');
      expect((await ledgerOf(data))[0]).toMatchObject({ status: 'success', bytes: 96_000 });
    }));

  it('archives what is final at the second interrupt, when the service does not end', () =>
    withSimulator({ first: { faults: [{ at: 'end', act: { do: 'stall' } }] } }, async (simulator) => {
      const run = capture(simulator, ['-', '--language', 'en', ...RAW]);
      await run.said('Session');
      const heard = simulator.session(0).then((session) => session.whenReceived(96_000));
      run.child.stdin.write(silence(3));
      await heard;
      run.child.kill('SIGINT');
      await run.said('waiting for the rest of the transcript');
      run.child.kill('SIGINT');
      const { code } = await run.done;
      expect(code).toBe(EXIT_INCOMPLETE);
      const id = simulator.sessions[0]?.id;
      expect(String(await read(`jobs/${id}/transcript.txt`))).toBe('Welcome to this call we are glad.\n');
      expect((await ledgerOf(data))[0]).toMatchObject({ status: 'incomplete', reason: 'aborted' });
    }));

  const deaths: readonly { name: string; act: FaultAct; reason: string }[] = [
    { name: 'the socket is cut', act: { do: 'drop' }, reason: 'socket-closed' },
    { name: 'the service fails midway', act: { do: 'error', type: 'job_error' }, reason: 'job_error' },
  ];
  it.each(deaths)('archives what was final, marked incomplete, when $name', ({ act, reason }) =>
    withSimulator({ first: { faults: [{ at: 10, act }] } }, async (simulator) => {
      const { code, stderr } = await captureFile(simulator, [speech, '--language', 'en', ...RAW]);
      expect({ code, reported: stderr.includes('Incomplete: ') }).toEqual({
        code: EXIT_INCOMPLETE,
        reported: true,
      });
      const id = simulator.sessions[0]?.id;
      expect(String(await read(`jobs/${id}/transcript.txt`))).toBe('Welcome to this call we are glad.\n');
      expect(await jsonOf(`jobs/${id}/transcript.json`)).toMatchObject({
        metadata: { realtime: { complete: false, incomplete_reason: expect.any(String) } },
      });
      expect((await ledgerOf(data))[0]).toMatchObject({ status: 'incomplete', reason });
    }),
  );

  it('stops at the duration limit and says so', () =>
    withSimulator({ durationLimitSeconds: 3 }, async (simulator) => {
      const { code } = await captureFile(simulator, [speech, '--language', 'en', ...RAW]);
      expect(code).toBe(EXIT_INCOMPLETE);
      expect((await ledgerOf(data))[0]).toMatchObject({ status: 'incomplete', reason: 'duration-limit' });
    }));

  it('leaves the transcript in the working folder when the store is gone', () =>
    withSimulator({}, async (simulator) => {
      const run = capture(simulator, ['-', '--language', 'en', ...RAW]);
      await run.said('Session');
      await rename(data, `${data}.gone`);
      await writeFile(data, 'a file where the folder was');
      run.child.stdin.end(silence(3));
      const { code, stderr } = await run.done;
      const rescued = /it is in (capture-\w+)/.exec(stderr)?.[1] ?? '';
      expect(code).toBe(1);
      expect(await readFile(join(folder.path, rescued, 'transcript.txt'), 'utf8')).toBe(
        'Welcome to this call we are glad.\n',
      );
    }));

  it('leaves it among the temporary files where the working folder takes none', () =>
    withSimulator({}, async (simulator) => {
      const temporary = join(folder.path, 'temporary');
      await mkdir(temporary);
      const run = capture(simulator, ['-', '--language', 'en', ...RAW], { TMPDIR: temporary }, '/proc');
      await run.said('Session');
      await rename(data, `${data}.gone`);
      await writeFile(data, 'a file where the folder was');
      run.child.stdin.end(silence(3));
      const { code, stderr } = await run.done;
      const [rescued = ''] = await readdir(temporary);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`it is in ${join(temporary, rescued)},`)]);
      expect(await readFile(join(temporary, rescued, 'transcript.txt'), 'utf8')).toBe(
        'Welcome to this call we are glad.\n',
      );
    }));

  it('says when the audio ends inside a sample', () =>
    withSimulator({}, async (simulator) => {
      await writeFile(speech, new Uint8Array(32_001));
      const { code, stderr } = await captureFile(simulator, [speech, '--language', 'en', ...RAW]);
      expect(code).toBe(0);
      expect(stderr).toContain('ends inside a sample');
    }));
});

const FIRST = 'Welcome to this call we are glad.';
const WHOLE = `${FIRST} That you could join us today let. Us\n`;

describe('a live session outlives its reader', () => {
  it('archives the whole transcript and exits with 0 when its terminal hangs up and both outputs are closed: `| head -1`', () =>
    withSimulator({}, async (simulator) => {
      const run = capture(simulator, ['-', '--language', 'en', ...RAW]);
      run.child.stdin.write(silence(3));
      await run.printed(FIRST);
      run.child.kill('SIGHUP');
      run.child.stdout.destroy();
      run.child.stderr.destroy();
      run.child.stdin.end(silence(3));
      expect((await run.done).code).toBe(0);
      expect(String(await read(`jobs/${simulator.sessions[0]?.id}/transcript.txt`))).toBe(WHOLE);
      expect((await ledgerOf(data))[0]).toMatchObject({ status: 'success', bytes: 192_000 });
    }));
});

describe('capture refuses', () => {
  const nowhere = { speech: { apiKey: API_KEY, realtime: { eu: 'ws://127.0.0.1:1' } } };
  const usage: readonly [name: string, args: readonly string[], message: string, settings: object][] = [
    ['a missing language', ['speech.pcm'], '--language', nowhere],
    ['a file that is not there', ['none.pcm', '--language', 'en'], 'cannot read none.pcm: ENOENT', nowhere],
    ['a folder', ['.', '--language', 'en'], 'is not a file', nowhere],
    [
      'an encoding without sample rate',
      ['speech.pcm', '--language', 'en', '--encoding', 'mulaw'],
      'needs both',
      nowhere,
    ],
    ['an unknown encoding', ['speech.pcm', '--language', 'en', '--encoding', 'opus'], 'pcm_s16le', nowhere],
    ['an invalid sample rate', ['speech.pcm', '--language', 'en', '--sample-rate', 'x'], 'above 0', nowhere],
    [
      'a max-delay out of range',
      ['speech.pcm', '--language', 'en', '--set', 'max_delay=1'],
      'from 2 to 20',
      nowhere,
    ],
    ['a field without a value', ['speech.pcm', '--language', 'en', '--set', 'x'], '<field>=<value>', nowhere],
    [
      'an unknown source',
      ['speech.pcm', '--language', 'en', '--source', 'x'],
      'configured sources are default, calls',
      nowhere,
    ],
    ['an unknown region', ['speech.pcm', '--language', 'en', '--region', 'mars'], 'eu1', nowhere],
    [
      'to run without a key',
      ['speech.pcm', '--language', 'en'],
      'speech.apiKey',
      { speech: { realtime: { eu: 'ws://127.0.0.1:1' } } },
    ],
    [
      'to run without a host',
      ['speech.pcm', '--language', 'en'],
      'speech.realtime',
      { speech: { apiKey: API_KEY } },
    ],
  ];
  it.each(usage)('%s, with exit code 2', async (_name, args, message, settings) => {
    const { code, stderr } = await captureFile(null, args, settings);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('a region without a host', () =>
    withSimulator({}, async (simulator) => {
      const { code, stderr } = await captureFile(simulator, [speech, '--language', 'en', '--region', 'us1']);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('hosts.us1') });
    }));

  it('nothing into the archive when the key is refused', () =>
    withSimulator({ verifyKey: () => 'not_authorised' }, async (simulator) => {
      const { code, stderr } = await captureFile(simulator, [speech, '--language', 'en']);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the key was refused') });
      expect(await visibleKeys(data)).toEqual([]);
    }));

  it('to send audio when the store cannot be written', () =>
    withSimulator({}, async (simulator) => {
      await writeFile(data, 'a file where the folder should be');
      const { code } = await captureFile(simulator, [speech, '--language', 'en']);
      expect(code).toBe(1);
      expect(simulator.upgrades).toEqual([]);
    }));
});
