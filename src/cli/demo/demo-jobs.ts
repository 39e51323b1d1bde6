import { readBack } from '../../archive/read-back.js';
import { KINDS, type RetrievableKind } from '../../domain/kinds.js';
import type { Fault } from '../../simulator/faults.js';
import type { CallbackStatus } from '../../speech/wire.js';
import type { DemoStage } from './demo-stage.js';
import { DEMO_CREDENTIAL } from './demo-stage.js';

/** A job of the demo, and how its callback fared. */
export interface DemoJob {
  readonly id: string;
  readonly region: string;
  readonly contents: readonly string[];
  readonly status: CallbackStatus;
  readonly fate: string;
}

export type DemoWork = ReturnType<typeof demoWork>;

interface Order {
  readonly contents: readonly RetrievableKind[];
  readonly status?: CallbackStatus;
  readonly fault?: Fault;
  readonly mediaBytes?: number;
}

const JSON_ONLY = ['transcript.json-v2'] as const;
const ALL_FORMATS = ['transcript.json-v2', 'transcript.txt', 'transcript.srt'] as const;
const WITH_MEDIA = ['transcript.json-v2', 'data'] as const;

const SILENT: Fault = { kind: 'drop' };
/** Every attempt fails, so that the service records them and gives up. */
const UNREACHABLE: Fault = { kind: 'unreachable', attempts: 9 };

const GOOD_TIMES: readonly Order[] = [
  { contents: JSON_ONLY },
  { contents: ALL_FORMATS },
  { contents: WITH_MEDIA, mediaBytes: 12_000_000 },
  { contents: ['transcript.srt'] },
  { contents: JSON_ONLY, status: 'fetch_error' },
  { contents: JSON_ONLY, fault: { kind: 'duplicate' } },
  { contents: WITH_MEDIA, fault: { kind: 'cut' }, mediaBytes: 2_000_000 },
  { contents: JSON_ONLY, status: 'error' },
];

const BAD_MINUTE: readonly Order[] = [
  { contents: JSON_ONLY, fault: SILENT },
  { contents: ALL_FORMATS, fault: UNREACHABLE },
  { contents: JSON_ONLY },
  { contents: WITH_MEDIA, fault: UNREACHABLE, mediaBytes: 8_000_000 },
  { contents: ['transcript.txt'], fault: SILENT },
];

export function demoWork({ simulator, listening, parts }: DemoStage) {
  const done: { readonly id: string; readonly items: readonly RetrievableKind[] }[] = [];
  let submitted = 0;

  async function submit({ contents, status = 'success', fault, mediaBytes }: Order): Promise<DemoJob> {
    submitted += 1;
    const { id, region, notified } = simulator.submit({
      region: submitted % 3 === 0 ? 'us1' : 'eu1',
      outcome: status,
      words: 200,
      mediaBytes: mediaBytes ?? 200_000,
      config: {
        type: 'transcription',
        transcription_config: { language: 'en' },
        notification_config: [
          { url: `${listening.publicUrl}/callbacks/default`, auth_headers: [DEMO_CREDENTIAL], contents },
        ],
      },
    });
    // The notification begins in a later turn of the event loop: the fault is there in time.
    const name = fault ? simulator.faults.add({ ...fault, jobId: id }) : null;
    const [outcome] = await notified;
    if (name !== null) simulator.faults.remove(name);
    if (status === 'success') done.push({ id, items: contents });
    return { id, region, contents, status, fate: wordsFor(id, outcome) };
  }

  function wordsFor(id: string, outcome: string | undefined): string {
    const attempts = simulator.deliveries.ofJob(id);
    if (outcome === 'dropped') return 'lost: never sent, and nothing records it';
    if (outcome !== 'delivered') return `lost: given up after ${attempts.length} attempts`;
    const answers = attempts.flatMap(({ answer }) => (answer ? [outcomeIn(answer.body)] : []));
    if (answers.length < attempts.length) return `broken off, sent again: ${answers.join(', ')}`;
    return answers.length > 1 ? `sent twice: ${answers.join(', ')}` : answers.join('');
  }

  return {
    /** Everything arrives, some of it only at the second attempt or twice. */
    goodTimes: () => Promise.all(GOOD_TIMES.map(submit)),
    /** Callbacks are lost, with and without the service noticing. */
    badMinute: () => Promise.all(BAD_MINUTE.map(submit)),
    /** One job after the tour; every third callback is lost. */
    oneMore: () => submit({ contents: JSON_ONLY, ...(submitted % 3 === 0 ? { fault: SILENT } : {}) }),
    /** A job whose transcript is in the store. */
    example: () => done.find(({ items }) => items[0] === 'transcript.json-v2')?.id ?? '',
    /** Holds what is in the store against what the service has. */
    async compare(): Promise<{ exact: number; expected: number; extra: number }> {
      let [exact, expected, found] = [0, 0, 0];
      for (const { id, items } of done) {
        for await (const _ of parts.store.list(`jobs/${id}/`)) found += 1;
        for (const item of items) {
          const there = await readBack(parts.store, `jobs/${id}/${KINDS[item].file}`);
          expected += 1;
          if (there?.sha256 === (await simulator.expected(id)[item].sha256())) exact += 1;
        }
      }
      return { exact, expected, extra: found - expected };
    },
  };
}

function outcomeIn(body: string): string {
  try {
    return String((JSON.parse(body) as { outcome?: unknown }).outcome);
  } catch {
    return 'refused';
  }
}
