import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type OpenArchive, openArchiveParts } from '../app/archive-parts.js';
import { indexOfCommand } from '../app/open-ledger.js';
import { storeProofTarget } from '../app/store/store-proof-target.js';
import { loadConfig } from '../config/config.js';
import type { LedgerLine } from '../domain/delivery.js';
import { isJobId } from '../domain/job.js';
import { newDeliveryId } from '../ledger/ledger-line.js';
import { startSession } from '../speech/realtime/realtime.js';
import { REALTIME_REGIONS } from '../speech/realtime/realtime-region.js';
import type { RealtimeSession } from '../speech/realtime/session/session.js';
import { proveStore } from '../store/probe/store-proof.js';
import { archiveSession, type CapturedFile, type SessionContext } from './capture/archive-session.js';
import { type AudioInput, openAudio, readAudio } from './capture/capture-audio.js';
import { listenForInterrupts } from './capture/capture-interrupts.js';
import { type CaptureFlags, type CapturePlan, capturePlan } from './capture/capture-plan.js';
import { createCaptureScreen, ignoringWriteErrors, type Screen } from './capture/capture-screen.js';
import { runSession, type SessionEnd } from './capture/run-session.js';
import { sessionTranscripts } from './capture/session-transcripts.js';
import { EXIT } from './shared/exit-codes.js';
import { readPositive } from './shared/options/read-number.js';
import { repeatable } from './shared/options/repeatable.js';

export function createCommand(): Command {
  return new Command('capture')
    .argument('<file>', 'audio file, or - for standard input')
    .requiredOption('--language <code>', 'language of the audio, such as en')
    .addOption(
      new Option('--encoding <name>', 'raw audio in this encoding').choices([
        'pcm_f32le',
        'pcm_s16le',
        'mulaw',
      ]),
    )
    .option('--sample-rate <hertz>', 'sample rate of raw audio', readPositive)
    .addOption(new Option('--region <name>', 'stay in this region').choices(REALTIME_REGIONS))
    .option('--agent', 'use the agent interface: turns and speakers')
    .option(
      '--set <field=value>',
      'a field of the transcription configuration, as JSON or text, such as max_delay=4; repeatable',
      repeatable,
    )
    .option('--source <name>', 'archive under this source (default: the first one configured)')
    .option('--json', 'print one JSON document at the end, no live text')
    .action(capture);
}

async function capture(input: string, flags: CaptureFlags): Promise<void> {
  const config = loadConfig('service');
  const plan = capturePlan(flags, config);
  const audio = await openAudio(input, process.stdin);
  try {
    const archive = await openArchiveParts(config, indexOfCommand(config));
    try {
      // Finds an unusable store before the session.
      await proveStore(storeProofTarget(config, archive.store));
      await captureInto(archive, audio, plan, flags);
    } finally {
      await archive.close();
    }
  } finally {
    audio.stream.destroy();
  }
}

async function captureInto(
  { archive, ledger }: OpenArchive,
  audio: AudioInput,
  { start, source }: CapturePlan,
  { json }: CaptureFlags,
): Promise<void> {
  const screen = createCaptureScreen(
    ignoringWriteErrors(process.stdout),
    ignoringWriteErrors(process.stderr),
    json === true,
  );
  const interrupts = listenForInterrupts(screen);
  try {
    const session = await startSession({ ...start, signal: interrupts.stop });
    interrupts.giveUp.addEventListener('abort', () => session.abort('interrupted twice'), { once: true });
    screen.note(`Session ${session.id} in region ${session.region}; interrupt to end it.`);
    const context = contextOf(session, source);
    session.on('segment', (segment) => screen.segment(segment));
    session.on('Warning', ({ type, reason }) =>
      screen.note(`Warning ${type}${reason === '' ? '' : `: ${reason}`}`),
    );
    // Reading stops when the session ends, even while a pipe delivers nothing.
    const over = new AbortController();
    session.on('state', () => over.abort());
    const chunks = readAudio(audio.stream, AbortSignal.any([interrupts.stop, over.signal]));
    const end = await runSession(session, chunks, screen.note);
    const files = sessionTranscripts(context, audio.name ?? '', end);
    const line = await archiveSession(archive, ledger, context, files, end).catch(
      saveLocalCopy(files, screen),
    );
    report(line, end, json === true, screen);
  } finally {
    interrupts.remove();
  }
}

function contextOf({ id, region }: RealtimeSession, source: CapturePlan['source']): SessionContext {
  const createdAt = new Date();
  const deliveryId = newDeliveryId(createdAt.getTime());
  return {
    deliveryId,
    jobId: isJobId(id ?? '') ? String(id) : deliveryId,
    source: source.name,
    keyPrefix: source.keyPrefix,
    // The global host does not report the region that it routed to.
    region: region === 'global' ? null : region,
    origin: 'realtime',
    receivedAt: createdAt.toISOString(),
  };
}

/** Saves the transcript on this machine: the service does not keep it. */
function saveLocalCopy(files: readonly CapturedFile[], screen: Screen): (error: unknown) => Promise<never> {
  return async (error) => {
    // A container's working folder is often read-only.
    const saved = saveIn('', files).catch(() => saveIn(tmpdir(), files));
    const place = await saved.then(
      (folder) => `it is in ${folder}, to be imported later`,
      (reason: Error) => `it could not be saved here either: ${reason.message}`,
    );
    screen.note(`The transcript could not be archived; ${place}.`);
    throw error;
  };
}

/** Returns the new folder. */
async function saveIn(parent: string, files: readonly CapturedFile[]): Promise<string> {
  const folder = await mkdtemp(join(parent, 'capture-'));
  for (const { kind, content } of files) await writeFile(join(folder, kind), content, { mode: 0o600 });
  return folder;
}

function report(
  line: LedgerLine,
  { report, reason, detail }: SessionEnd,
  json: boolean,
  screen: Screen,
): void {
  if (detail !== null) screen.note(`Incomplete: ${detail}`);
  const { jobId, deliveryId, status, outcome, items } = line;
  const { sent, acknowledged } = report;
  if (json) screen.json({ jobId, deliveryId, status, outcome, reason, detail, sent, acknowledged, items });
  else screen.note(`Archived ${items.map(({ key }) => key).join(', ')}`);
  process.exitCode = reason === null ? EXIT.ok : EXIT.incomplete;
}
