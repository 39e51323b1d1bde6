import { Command, InvalidArgumentError } from 'commander';
import {
  describeAttempt,
  describeLastAttempt,
  describeNextAttempt,
  describePause,
  describeUnsent,
} from '../domain/event-attempts.js';
import { plural } from '../lib/text/plural.js';
import type { SubscriberFigures, WaitingEventList } from '../operations/admin/api/answers/subscribers.js';
import { listSubscribers } from '../operations/admin/list-subscribers.js';
import { listWaitingEvents } from '../operations/admin/list-waiting-events.js';
import { describeIssue } from '../operations/health/describe-issue.js';
import type { DeadCause } from '../subscribers/dead/dead-causes.js';
import { createOutboxReader } from '../subscribers/outbox-reader.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { textRow } from './shared/format/text-row.js';
import { withStore } from './shared/on-store/with-store.js';

interface Options {
  readonly limit: number;
  readonly json?: true;
}

/** Without the address: commands that send nothing do not read it, since it may hold a secret. */
interface Listed extends Omit<SubscriberFigures, 'url'> {
  readonly waitingEvents: WaitingEventList['waitingEvents'];
  /** Causes of the events that ended without being sent. */
  readonly causes: readonly DeadCause[];
}

export function createCommand(): Command {
  return new Command('subscribers')
    .description(
      'show how far each subscriber is, which events wait for a retry, and which ended without being sent',
    )
    .argument('[subscriber]', 'only this one')
    .option('--limit <number>', 'waiting events to list of each', readLimit, 20)
    .option('--json', 'print one JSON document')
    .action(async (name: string | undefined, { limit, json }: Options) => {
      const subscribers = await list(name);
      if (json) printJson({ subscribers });
      else printLines(formatSubscribers(subscribers, limit));
    });
}

async function list(name: string | undefined): Promise<Listed[]> {
  return withStore(async ({ config, store }) => {
    const known = Object.keys(config.subscribers);
    if (name !== undefined && !known.includes(name))
      throw new UsageError(
        `unknown subscriber ${name}; ${known.length === 0 ? 'none is configured' : `known are ${known.join(', ')}`}`,
      );
    const outbox = createOutboxReader(store, config.subscribers);
    const all = await listSubscribers({ outbox });
    const wanted = all.filter((one) => name === undefined || one.name === name);
    return Promise.all(
      wanted.map(async ({ url: _, ...one }) => ({
        ...one,
        waitingEvents: one.stateDamaged ? [] : await listWaitingEvents(outbox, one.name),
        causes: await outbox.deadCauses(one.name, null),
      })),
    );
  });
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError('expected a whole number from 1 to 1000.');
}

const cellsOf = textRow([24, 24, 26, 10, 8]);
const row = (cells: readonly string[]) => `    ${cellsOf(cells)}`;

function formatSubscribers(subscribers: readonly Listed[], limit: number): string[] {
  if (subscribers.length === 0) return ['No subscriber is configured.'];
  return subscribers.flatMap((one, index) => [...(index === 0 ? [] : ['']), ...formatOne(one, limit)]);
}

function formatOne(subscriber: Listed, limit: number): string[] {
  const { name, events, sources, issues, waitingEvents, causes } = subscriber;
  const of = sources.length === 0 ? '' : ` of ${sources.join(', ')}`;
  const left = waitingEvents.length - limit;
  return [
    `${name}: ${events.join(', ')}${of}`,
    ...(subscriber.stateDamaged ? [] : figuresOf(subscriber)),
    ...issues.flatMap((issue) => {
      const { text, remedy } = describeIssue(issue);
      return [`  ${text}`, ...(remedy === null ? [] : [`    ${remedy}`])];
    }),
    ...(waitingEvents.length === 0
      ? []
      : [
          '  Events that wait for a retry',
          row(['NEXT ATTEMPT', 'RECEIVED', 'EVENT', 'JOB', 'ATTEMPTS', 'LAST ANSWER']),
        ]),
    ...waitingEvents.slice(0, limit).map((waiting) => waitingRow(subscriber, waiting)),
    ...(left > 0 ? [`    ${left} more: --limit`] : []),
    ...causes.flatMap((cause) => causeLines(name, cause)),
  ];
}

function figuresOf(subscriber: Listed): string[] {
  const { sender, sent, lastSentAt, lagSeconds, lastError } = subscriber;
  const pause = describePause(subscriber, Date.now());
  const last = lastSentAt === null ? '' : `, the last at ${lastSentAt}`;
  const lag = lagSeconds === 0 ? '' : `; the oldest has waited for ${plural(lagSeconds, 'second')}`;
  return [
    `  ${plural(sent, 'event')} sent${last}; ${describeUnsent(subscriber)}${lag}`,
    sender === null ? '  No replica sends to it.' : `  Sent by ${sender}`,
    ...(pause === null ? [] : [`  ${pause}.`]),
    ...(lastError === null ? [] : [`  Last error at ${lastError.at}: ${describeAttempt(lastError)}`]),
  ];
}

function waitingRow(
  { pausedUntil }: Listed,
  { nextTryAt, receivedAt, id, jobId, attempts, history }: Listed['waitingEvents'][number],
): string {
  const last = history.at(-1);
  return row([
    describeNextAttempt(nextTryAt, pausedUntil, Date.now()),
    receivedAt,
    id,
    jobId,
    String(attempts),
    last === undefined ? '-' : describeAttempt(last),
  ]);
}

/** A cause, and the command that sends all of its events again. */
function causeLines(name: string, { code, count, first, last, answer }: DeadCause): string[] {
  return [
    `  ${plural(count, 'event')} not sent: ${describeLastAttempt(code, answer)}. First ${first}, last ${last}.`,
    `    transcript-receiver replay notify --subscriber ${name} --dead --cause ${code}`,
  ];
}
