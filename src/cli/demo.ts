import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { isContinuousIntegration } from '../config/load/environment.js';
import { reconcile } from '../recovery/reconcile/reconcile.js';
import type { RecoveredJob } from '../recovery/reconcile/report/recovery-report.js';
import type { ReceiverEvent } from '../subscribers/receiver-event.js';
import { type DemoJob, type DemoWork, demoWork } from './demo/demo-jobs.js';
import { createPaint, type Paint } from './demo/demo-paint.js';
import { type DemoStage, openDemoStage } from './demo/demo-stage.js';
import { untilSignal } from './shared/signal-handling.js';

export function createCommand(): Command {
  return new Command('demo')
    .option('--once', 'end after the tour instead of going on until Ctrl-C')
    .action(async ({ once: onlyOnce }: { once?: true }) => {
      const endsAfterTour = onlyOnce === true || isContinuousIntegration();
      await untilSignal(1, (stop) => demo(endsAfterTour, stop));
    });
}

/** Shows recovery with a real receiver and a simulated speech service. */
async function demo(onlyOnce: boolean, stop: AbortSignal): Promise<void> {
  const paint = createPaint(process.stdout);
  const stage = await openDemoStage();
  try {
    const work = demoWork(stage);
    await tour(stage, work, paint);
    if (!onlyOnce && !stop.aborted) await waitForInterrupt(stage, work, paint, stop);
  } finally {
    await stage.close();
  }
}

async function tour(stage: DemoStage, work: DemoWork, paint: Paint): Promise<void> {
  paint.heading('A receiver and a simulator of the speech service, on this machine only');
  paint.say(`callbacks to  ${stage.listening.publicUrl}/callbacks/default`);
  paint.say(`stored in     ${stage.dataFolder}`);

  paint.heading('Jobs are done, and the service calls back');
  const received = await work.goodTimes();
  for (const job of received) paint.row(...jobRow(job));
  paint.say('Each body was streamed into the store and answered 2xx once it was durable.');

  paint.heading('The next system hears of each job by a signed event');
  for (const event of await stage.subscriber.eventsOf(received.map(({ id }) => id))) {
    paint.row(...eventRow(event));
  }
  paint.say('Sent from the ledger, at least once, with the place of each artefact in the store.');

  paint.heading('The network has a bad minute, and callbacks get lost');
  for (const job of await work.badMinute()) paint.row(...jobRow(job));
  paint.say('The service tries four times, then gives up for good. It keeps results for seven days.');

  paint.heading('Which results are missing? (reconcile --dry-run)');
  const missing = await reconcile(stage.parts.recovery, { dryRun: true });
  for (const job of missing.jobs) paint.row('note', recoveryRow(job));
  paint.say(`${missing.outcomes.matched} jobs are complete, ${missing.jobs.length} are not.`);

  paint.heading('Fetch them (reconcile)');
  const report = await reconcile(stage.parts.recovery);
  for (const job of report.jobs) paint.row(job.outcome === 'recovered' ? 'good' : 'bad', recoveryRow(job));

  paint.heading('Compare every byte');
  const { exact, expected, extra } = await work.compare();
  const complete = exact === expected && extra === 0;
  paint.row(complete ? 'good' : 'bad', [
    `${exact} of ${expected} artefacts of finished jobs are stored exactly as the service has them, each once.`,
  ]);
  if (!complete) process.exitCode = 1;
}

async function waitForInterrupt(
  stage: DemoStage,
  work: DemoWork,
  paint: Paint,
  signal: AbortSignal,
): Promise<void> {
  const { listening, adminToken, configFolder, dataFolder } = stage;
  // npm's Node, which may not be the one of the shell.
  const command = `${relative('', process.execPath)} ${relative('', process.argv[1] ?? '')}`;
  paint.heading('Look around: it goes on until Ctrl-C');
  paint.copy('The dashboard:', `${listening.adminUrl}/#token=${adminToken}`);
  paint.copy('The ledger, a line per event:', `cat ${dataFolder}/ledger/*/*/*.ndjson`);
  paint.copy(
    'Lose an artefact yourself; a line below says that it is recovered:',
    `rm ${dataFolder}/jobs/${work.example()}/transcript.json`,
  );
  paint.copy(
    'Why would a callback be refused?',
    `NODE_CONFIG_DIR=${configFolder} ${command} explain --address 8.8.8.8`,
  );
  paint.say('');
  while (!signal.aborted) {
    for (const job of await work.oneMore()) paint.row(...jobRow(job));
    const { jobs } = await reconcile(stage.parts.recovery, { signal });
    for (const job of jobs) paint.row(job.outcome === 'recovered' ? 'good' : 'note', recoveryRow(job));
    await sleep(3000, null, { signal }).catch(() => {});
  }
  paint.say('Cleaning up.');
}

function jobRow({ id, region, contents, status, fate }: DemoJob): Parameters<Paint['row']> {
  const mark = fate.lost ? 'bad' : status === 'success' ? 'good' : 'note';
  return [
    mark,
    [id, region, status === 'success' ? shortNames(contents) : `no result: ${status}`, fate.words],
  ];
}

function eventRow({ type, subject = '', data }: ReceiverEvent): Parameters<Paint['row']> {
  const items = 'items' in data ? data.items.length : 0;
  const what = type.replace(/^transcript-receiver\.|\.v1$/g, '');
  return [
    what === 'job.stored' ? 'good' : 'note',
    [subject, '', what, `signature verified, ${items === 1 ? '1 artefact' : `${items} artefacts`}`],
  ];
}

/** Short names of contents: json, txt, srt, data. */
function shortNames(kinds: readonly string[]): string {
  return kinds.map((kind) => kind.replace(/^transcript\.(json)?(-v2)?/, '$1')).join(', ');
}

function recoveryRow({ jobId, region, items, outcome, reason }: RecoveredJob): string[] {
  const kinds = shortNames(items.map(({ kind }) => kind));
  return [
    jobId,
    region ?? '',
    kinds,
    [outcome === 'pending' ? null : outcome, reason].filter(Boolean).join('; '),
  ];
}
