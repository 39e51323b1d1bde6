import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as simulatorEntry from '../../../src/simulator/simulator.js';
import * as speechEntry from '../../../src/speech/speech.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';

const ENTRIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'transcript-receiver/speech': speechEntry,
  'transcript-receiver/simulator': simulatorEntry,
};

/** Runs the document's JavaScript example and gives the function it exports. */
function exampleOf<F>(document: string): F {
  const text = readFileSync(new URL(`../../../docs/${document}`, import.meta.url), 'utf8');
  const code = /```js\n([\s\S]+?)```/.exec(text)?.[1] ?? '';
  const imported = /import \{ ([^}]+) \} from '([^']+)';/.exec(code);
  const names = imported?.[1]?.split(', ') ?? [];
  const entry = ENTRIES[imported?.[2] ?? ''] ?? {};
  const exported = /export async function (\w+)/.exec(code)?.[1] ?? '';
  const body = code.replace(/^import.+$/m, '').replaceAll('export ', '');
  const make = new Function(...names, `${body}\nreturn ${exported};`);
  return make(...names.map((name) => entry[name])) as F;
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
    type Example = (access: { apiKey: string; batchUrl: string | undefined }) => Promise<Map<string, string>>;
    const config = { type: 'transcription' };
    const { id } = simulator.submit({ config });
    const vanished = simulator.submit({ config });
    simulator.submit({ config, createdAt: Date.now() - 2 * 3600_000 });
    simulator.submit({ config, outcome: 'error' });
    await simulator.idle();
    simulator.faults.add({ kind: 'answer', operation: 'transcript', jobId: vanished.id, status: 410 });
    const example = exampleOf<Example>('speech-clients.md');
    const found = await example({ apiKey: simulator.apiKey, batchUrl: simulator.batchUrls.eu1 });
    const text = (await simulator.expected(id)['transcript.txt'].bytes()).toString('utf8');
    expect([...found]).toEqual([[id, text]]);
  });

  it('simulate a job and report what was sent', async () => {
    type Example = (url: string) => Promise<{ outcomes: string[]; attempts: unknown[] }>;
    const result = await exampleOf<Example>('simulator.md')(receiver.url);
    expect(result.outcomes).toEqual(['delivered']);
    expect(result.attempts.at(-1)).toBe(200);
  });

  it('import from entries the package exports, each a file of the build', () => {
    const { exports } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as {
      exports: Record<string, { default: string }>;
    };
    for (const name of Object.keys(ENTRIES)) {
      const target = exports[name.replace('transcript-receiver', '.')]?.default ?? 'not exported';
      const source = target.replace('./dist/', '../../../src/').replace(/\.js$/, '.ts');
      expect(() => readFileSync(new URL(source, import.meta.url))).not.toThrow();
    }
  });
});
