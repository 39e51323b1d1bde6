import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfigWithoutPorts } from '../config.js';
import type { LedgerLine } from '../domain/delivery.js';
import { isJobId } from '../domain/job.js';
import { ulidMaker } from '../domain/ulid-maker.js';
import { startSession } from '../speech/realtime/realtime.js';
import { REALTIME_REGIONS } from '../speech/realtime/realtime-region.js';
import type { RealtimeSession } from '../speech/realtime/session.js';
import { transcriptJson } from '../speech/realtime/transcript-json.js';
import { transcriptSrt } from '../speech/realtime/transcript-srt.js';
import { transcriptText } from '../speech/realtime/transcript-text.js';
import {
  type CaptureArchive,
  type CaptureDelivery,
  type CapturedFile,
  openCaptureArchive,
} from './capture-archive.js';
import { type AudioInput, openAudio, readAudio } from './capture-audio.js';
import { type CaptureFlags, type CapturePlan, capturePlan } from './capture-plan.js';
import { createScreen, type Screen } from './capture-screen.js';
import { runSession, type SessionEnd } from './capture-session.js';
import { EXIT } from './exit-codes.js';
import { printJson } from './print.js';
import { repeatable } from './repeatable.js';

export function createCommand(): Command {
  return new Command('capture')
    .description('transcribe a file or standard input live and archive the transcript like any job')
    .argument('<file>', 'audio file, or - for standard input')
    .requiredOption('--language <code>', 'language of the audio, such as en')
    .addOption(
      new Option('--encoding <name>', 'raw audio in this encoding').choices([
        'pcm_f32le',
        'pcm_s16le',
        'mulaw',
      ]),
    )
    .option('--sample-rate <hertz>', 'sample rate of raw audio', readNumber)
    .addOption(new Option('--region <name>', 'stay in this region').choices(REALTIME_REGIONS))
    .option('--partials', 'show provisional text while it changes (on a terminal)')
    .option('--agent', 'use the agent interface: turns and speakers')
    .option('--max-delay <seconds>', 'longest wait for final text, 2 to 20', readNumber)
    .addOption(
      new Option('--diarization <mode>', 'mark changes of speaker').choices(['none', 'speaker_change']),
    )
    .option('--output-locale <locale>', 'spelling, such as en-GB')
    .option('--word <text>', 'word or phrase the service should know; repeatable', repeatable)
    .option(
      '--speed <factor>',
      'send raw audio at so many times real time (default: as fast as it is taken)',
      readNumber,
    )
    .option('--source <name>', 'archive under this source (default: the first one configured)')
    .option('--keep-audio', 'archive the audio too')
    .option('--json', 'print one JSON document at the end, no live text')
    .action(capture);
}

async function capture(input: string, flags: CaptureFlags): Promise<void> {
  const config = loadConfigWithoutPorts();
  const plan = capturePlan(flags, config);
  const audio = await openAudio(input, process.stdin);
  const screen = createScreen(process.stdout, process.stderr, flags.json === true);
  const archive = await openCaptureArchive(config);
  const interrupts = listenForInterrupts(screen);
  try {
    const session = await startSession({ ...plan.start, signal: interrupts.stop });
    interrupts.giveUp.addEventListener('abort', () => session.abort('interrupted twice'), { once: true });
    screen.note(`Session ${session.id} in region ${session.region}; interrupt to end it.`);
    await captureSession({ session, audio, plan, flags, screen, archive, stop: interrupts.stop });
  } finally {
    interrupts.forget();
    audio.stream.destroy();
    await archive.close();
  }
}

interface Capture {
  readonly session: RealtimeSession;
  readonly audio: AudioInput;
  readonly plan: CapturePlan;
  readonly flags: CaptureFlags;
  readonly screen: Screen;
  readonly archive: CaptureArchive;
  readonly stop: AbortSignal;
}

async function captureSession({
  session,
  audio,
  plan,
  flags,
  screen,
  archive,
  stop,
}: Capture): Promise<void> {
  const createdAt = new Date();
  const deliveryId = ulidMaker()(createdAt.getTime());
  const delivery = archive.begin(
    {
      deliveryId,
      jobId: isJobId(session.id ?? '') ? String(session.id) : deliveryId,
      source: plan.source.name,
      keyPrefix: plan.source.keyPrefix,
      // The global host does not say which region it routed to.
      region: session.region === 'global' ? null : session.region,
      origin: 'realtime',
      receivedAt: createdAt.toISOString(),
    },
    flags.keepAudio ? { fileName: audio.name } : null,
  );
  session.on('segment', screen.segment);
  session.on('Warning', ({ type, reason }) => screen.note(`Warning ${type}: ${reason}`));
  // Whatever ends the stream ends the reading, also while nothing comes out of a pipe.
  const over = new AbortController();
  session.on('state', () => over.abort());
  const chunks = readAudio(audio.stream, plan.pace, AbortSignal.any([stop, over.signal]));
  try {
    const end = await runSession(session, chunks, (chunk) => delivery.keepAudio(chunk), screen.note);
    screen.end();
    const files = filesOf(end, createdAt, audio.name);
    const status = end.reason === null ? 'success' : 'incomplete';
    const { bytes } = end.report.acknowledged;
    const line = await delivery
      .finish(files, { status, reason: end.reason, bytes })
      .catch(rescue(files, screen));
    tell(line, end, delivery, flags, screen);
  } finally {
    await delivery.discard();
  }
}

/** The session cannot be had again: what the archive did not take is left in the working folder. */
function rescue(files: readonly CapturedFile[], screen: Screen): (error: unknown) => Promise<never> {
  return async (error) => {
    const folder = await mkdtemp('capture-');
    for (const { kind, content } of files) await writeFile(join(folder, kind), content);
    screen.note(`The archive did not take the transcript; it is in ${folder}.`);
    throw error;
  };
}

function filesOf({ report, detail }: SessionEnd, createdAt: Date, name: string | null): CapturedFile[] {
  const json = transcriptJson(report, {
    createdAt,
    finishedAt: new Date(),
    ...(name === null ? {} : { dataName: name }),
    ...(detail === null ? {} : { incompleteReason: detail }),
  });
  const text = 'text/plain; charset=utf-8';
  return [
    { kind: 'transcript.json-v2', contentType: 'application/json', content: JSON.stringify(json) },
    { kind: 'transcript.txt', contentType: text, content: transcriptText(report.segments) },
    {
      kind: 'transcript.srt',
      contentType: text,
      content: transcriptSrt(report.segments, report.transcriptionConfig?.language),
    },
  ];
}

function tell(
  line: LedgerLine,
  { report, reason, detail }: SessionEnd,
  { audioLost }: CaptureDelivery,
  { json }: CaptureFlags,
  screen: Screen,
): void {
  if (detail !== null) screen.note(`Incomplete: ${detail}`);
  if (audioLost) screen.note('The audio could not be stored; the transcript is archived without it.');
  const { jobId, deliveryId, status, outcome, items } = line;
  const { sent, acknowledged } = report;
  if (json) printJson({ jobId, deliveryId, status, outcome, reason, detail, sent, acknowledged, items });
  else screen.note(`Archived ${items.map(({ key }) => key).join(', ')}`);
  process.exitCode = reason === null && !audioLost ? EXIT.ok : EXIT.incomplete;
}

interface Interrupts {
  /** The first interrupt: no more audio, but the rest of the transcript is awaited. */
  readonly stop: AbortSignal;
  /** The second: what is final is archived at once. */
  readonly giveUp: AbortSignal;
  forget(): void;
}

function listenForInterrupts(screen: Screen): Interrupts {
  const [stop, giveUp] = [new AbortController(), new AbortController()];
  const onSignal = (): void => {
    if (stop.signal.aborted) giveUp.abort();
    else screen.note('Ending; waiting for the last words. Interrupt again to stop waiting.');
    stop.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return {
    stop: stop.signal,
    giveUp: giveUp.signal,
    forget: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
}

function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || !Number.isFinite(value)) {
    throw new InvalidArgumentError('expected a number above 0');
  }
  return value;
}
