import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { isContinuousIntegration } from '../../config/load/environment.js';
import { reconcile } from '../../recovery/reconcile/reconcile.js';
import type { RecoveredJob } from '../../recovery/reconcile/report/recovery-report.js';
import { printLines } from '../shared/format/print.js';
import { type TextColumn, textTable } from '../shared/format/text-table.js';
import { untilSignal } from '../shared/signal-handling.js';
import { type DemoJob, type DemoWork, demoWork } from './demo-jobs.js';
import { type DemoStage, openDemoStage } from './demo-stage.js';

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
  const stage = await openDemoStage();
  try {
    await untilReady(stage, stop);
    const work = demoWork(stage);
    await tour(stage, work);
    if (!onlyOnce && !stop.aborted) await waitForInterrupt(stage, work, stop);
  } finally {
    await stage.close();
  }
}

/** A busy machine proves the store later than it listens: callbacks would be answered 503, and given up. */
async function untilReady({ listening }: DemoStage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await fetch(`${listening.publicUrl}/readyz`)).ok)
    await sleep(100, null, { signal }).catch(() => {});
}

function step(title: string, lines: readonly string[]): void {
  printLines(['', title, ...lines.map((line) => `  ${line}`)]);
}

async function tour(stage: DemoStage, work: DemoWork): Promise<void> {
  step('1. A receiver and a simulator of the speech service, on this machine only', [
    `callbacks to  ${stage.listening.publicUrl}/callbacks/default`,
    `stored in     ${stage.dataFolder}`,
  ]);
  step('2. Jobs are done, and the service calls back', [
    ...textTable(JOBS, await work.goodTimes()),
    'Each body was streamed into the store and answered 2xx once it was durable.',
  ]);
  step('3. The network has a bad minute, and callbacks get lost', [
    ...textTable(JOBS, await work.badMinute()),
    'The service tries four times, then gives up for good. It keeps results for seven days.',
  ]);
  const missing = await reconcile(stage.parts.recovery, { dryRun: true });
  step('4. Which results are missing? (reconcile --dry-run)', [
    ...textTable(RECOVERIES, missing.jobs),
    `${missing.outcomes.matched} jobs are complete, ${missing.jobs.length} are not.`,
  ]);
  const report = await reconcile(stage.parts.recovery);
  step('5. Fetch them (reconcile)', textTable(RECOVERIES, report.jobs));
  const { exact, expected, extra } = await work.compare();
  step('6. Compare every byte', [
    `${exact} of ${expected} artefacts of finished jobs are stored exactly as the service has them, each once.`,
  ]);
  if (exact < expected || extra > 0) process.exitCode = 1;
}

async function waitForInterrupt(stage: DemoStage, work: DemoWork, signal: AbortSignal): Promise<void> {
  const { listening, adminToken, configFolder, dataFolder } = stage;
  // npm's Node, which may not be the one of the shell.
  const command = `${relative('', process.execPath)} ${relative('', process.argv[1] ?? '')}`;
  step('Look around: it goes on until Ctrl-C', [
    'The dashboard:',
    `  ${listening.adminUrl}/#token=${adminToken}`,
    'The ledger, a line per event:',
    `  cat ${dataFolder}/ledger/*/*/*.ndjson`,
    'Lose an artefact yourself; a line below says that it is recovered:',
    `  rm ${dataFolder}/jobs/${work.example()}/transcript.json`,
    'Why would a callback be refused?',
    `  NODE_CONFIG_DIR=${configFolder} ${command} explain --address 8.8.8.8`,
    '',
  ]);
  while (!signal.aborted) {
    const job = await work.oneMore();
    const { jobs } = await reconcile(stage.parts.recovery, { signal });
    printLines([...textTable(JOBS, [job]).slice(1), ...textTable(RECOVERIES, jobs).slice(1)]);
    await sleep(3000, null, { signal }).catch(() => {});
  }
  printLines(['Cleaning up.']);
}

const JOBS: readonly TextColumn<DemoJob>[] = [
  ['JOB', 12, ({ id }) => id],
  ['REGION', 6, ({ region }) => region],
  ['CONTENTS', 24, ({ status, contents }) => (status === 'success' ? contents.join() : `none: ${status}`)],
  ['CALLBACK', 0, ({ fate }) => fate],
];

const RECOVERIES: readonly TextColumn<RecoveredJob>[] = [
  ['JOB', 12, ({ jobId }) => jobId],
  ['REGION', 6, ({ region }) => region ?? ''],
  ['CONTENTS', 24, ({ items }) => items.map(({ kind }) => kind).join()],
  ['OUTCOME', 0, ({ outcome, reason }) => [outcome, reason].filter(Boolean).join('; ')],
];
