import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as consumers from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'undici';
import * as simulatorEntry from '../../../src/simulator/simulator.js';
import * as realtimeEntry from '../../../src/speech/realtime/realtime.js';
import * as speechEntry from '../../../src/speech/speech.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';
import { runSnippet, snippet } from '../../support/project/documented-snippets.js';
import { PCM, silence } from '../../support/realtime.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MODULES = {
  'node:stream/consumers': consumers,
  'transcript-receiver/speech': speechEntry,
  'transcript-receiver/simulator': simulatorEntry,
  'transcript-receiver/realtime': realtimeEntry,
};

/** The function that a snippet of the documentation exports. */
async function exampleOf<F>(name: string): Promise<F> {
  const [exported] = Object.values(await runSnippet(snippet(name), MODULES));
  return exported as F;
}

let simulator: simulatorEntry.Simulator;
let receiver: RecordingServer;

beforeEach(async () => {
  receiver = await recordingServer();
  simulator = await simulatorEntry.createSimulator({ regions: { eu1: 0 }, timeScale: 0.001 });
});

afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

describe('the documented examples', () => {
  it('fetch the transcripts of the last hour, whatever vanished meanwhile', async () => {
    type Example = (apiKey: string, batchUrl: string) => Promise<Map<string, string>>;
    const config = { type: 'transcription' };
    const { id } = simulator.submit({ config });
    const vanished = simulator.submit({ config });
    simulator.submit({ config, createdAt: Date.now() - 2 * 3600_000 });
    simulator.submit({ config, outcome: 'error' });
    await simulator.idle();
    simulator.faults.add({ kind: 'answer', operation: 'transcript', jobId: vanished.id, status: 410 });
    const example = await exampleOf<Example>('docs/speech-clients.md#1');
    const found = await example(simulator.apiKey, simulator.batchUrls.eu1 ?? '');
    const text = (await simulator.expected(id)['transcript.txt'].bytes()).toString('utf8');
    expect([...found]).toEqual([[id, text]]);
  });

  it('simulate a job and report what was sent', async () => {
    type Example = (url: string) => Promise<{ outcomes: string[]; attempts: unknown[] }>;
    const example = await exampleOf<Example>('docs/simulator.md#1');
    const result = await example(receiver.url);
    expect(result.outcomes).toEqual(['delivered']);
    expect(result.attempts.at(-1)).toBe(200);
  });

  it('break a live session and keep what was final', async () => {
    type Example = (speech: Uint8Array[]) => Promise<{ segments: { text: string }[]; frames: number[] }>;
    const example = await exampleOf<Example>('docs/simulator.md#2');
    const { segments, frames } = await example(Array.from({ length: 40 }, () => silence(1)));
    expect(frames.length).toBeGreaterThan(3);
    expect(segments.length).toBeGreaterThan(0);
    expect(segments.every(({ text }) => text !== '')).toBe(true);
  });
});

describe('the documented examples of live sessions', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let live: simulatorEntry.Simulator;

  beforeEach(async () => {
    folder = await temporaryFolder();
    live = await simulatorEntry.createSimulator({ regions: { eu1: 0 }, realtimePort: 0 });
    await writeFile(join(folder.path, 'speech.pcm'), silence(4));
  });
  afterEach(async () => {
    await live.close();
    await folder.remove();
  });

  /** The snippet with the simulator in place of the host that it names. */
  const against = (name: string, host: string) => ({
    name,
    code: snippet(name).code.replace(`'${host}'`, JSON.stringify(live.realtimeUrl)),
  });

  it('transcribe a file and print it', async () => {
    const printed: unknown[][] = [];
    const fs = { createReadStream: (file: string) => createReadStream(join(folder.path, file)) };
    await runSnippet(
      against('docs/realtime.md#1', 'eu.rt.example.com'),
      { ...MODULES, 'node:fs': fs },
      {
        scope: {
          process: { env: { SPEECH_API_KEY: live.apiKey } },
          console: { log: (...words: unknown[]) => printed.push(words) },
        },
      },
    );
    expect(printed.at(-1)).toEqual(['Welcome to this call we are glad. That you could\n']);
  });

  it('keep what was final when a session breaks, and say where to resume', async () => {
    const session = await realtimeEntry.startSession({
      hosts: { global: live.realtimeUrl ?? '' },
      credential: { apiKey: live.apiKey },
      audioFormat: PCM,
      transcriptionConfig: { language: 'en' },
    });
    const kept: unknown[] = [];
    async function* audio() {
      yield silence(3);
      while (kept.length === 0 && session.report().segments.length === 0)
        await new Promise((resolve) => session.on('segment', resolve));
      await live.close();
      yield silence(3);
    }
    await runSnippet(snippet('docs/realtime.md#2'), MODULES, {
      scope: {
        ...realtimeEntry,
        session,
        audio: audio(),
        save: (text: string) => kept.push(text),
        resumeFrom: (seconds: number) => kept.push(seconds),
      },
    });
    expect(kept).toEqual(['Welcome to this call we are glad.\n', expect.closeTo(2.75)]);
  });

  it('start a session in a browser', async () => {
    const { session } = await runSnippet(against('docs/realtime.md#3', 'rt.example.com'), MODULES, {
      scope: {
        WebSocket,
        fetchTemporaryKey: () => live.issueKey('rt', 60),
        audioContext: { sampleRate: 48_000 },
      },
      results: ['session'],
    });
    const { complete } = await (session as realtimeEntry.RealtimeSession).end();
    expect(complete).toBe(true);
  });
});
