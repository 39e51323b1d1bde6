import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../../lib/time/clock.js';
import type { NotificationConfig } from '../../speech/wire.js';
import type { ActiveFaults, NotificationFault } from '../faults.js';
import { recordError } from '../jobs/job-store.js';
import { isoTime, type SimulatedJob } from '../jobs/simulated-job.js';
import { type BodyHabits, callbackBody } from './callback-body.js';
import type { WritableDeliveryLog } from './delivery-log.js';
import { type CallbackAttempt, sendCallback } from './send-callback.js';

export interface NotifierOptions extends BodyHabits {
  /** Whether callbacks have a `Content-Length`, or come with `Transfer-Encoding: chunked`. */
  readonly framing: 'sized' | 'chunked';
}

/** The public sample shows four attempts, 15, 20 and 30 s apart. */
const RETRY_DELAYS_MS = [15_000, 20_000, 30_000];

export const NOTIFIER_DEFAULTS: NotifierOptions = {
  framing: 'sized',
  absentContents: 'empty',
  loneData: 'multipart',
  errorBody: 'jobinfo',
  partTypes: 'octet-stream',
};

/** How the notification of one entry ended; `dropped` is the fault, not an answer. */
export type NotificationOutcome = 'delivered' | 'failed' | 'dropped' | 'interrupted';

export function createNotifier(
  options: NotifierOptions,
  surroundings: { clock: Clock; faults: ActiveFaults; log: WritableDeliveryLog },
) {
  const stop = new AbortController();
  // Every notification in flight has a listener on it: not a leak.
  setMaxListeners(0, stop.signal);
  const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
  const { clock, faults, log } = surroundings;

  const attemptOnce = async (
    job: SimulatedJob,
    entry: NotificationConfig,
    place: { entry: number; attempt: number; copy: boolean },
    struck: readonly NotificationFault[],
  ): Promise<CallbackAttempt> => {
    const body = callbackBody(job, entry, options);
    const request = {
      method: callbackMethod(entry),
      url: callbackUrl(entry.url, job.id, job.outcome),
      headers: callbackHeaders(entry),
      content: body.content,
      framing: options.framing,
    };
    const logged = log.begin({
      ...place,
      jobId: job.id,
      region: job.region,
      startedAt: isoTime(clock.now()),
      method: request.method,
      url: request.url,
      headers: request.headers,
      bodyBytes: body.content?.size ?? 0,
      parts: body.parts,
      faults: struck.map(({ kind }) => kind),
    });
    const result = struck.some(({ kind }) => kind === 'unreachable')
      ? { answer: null, error: 'dial tcp: i/o timeout' }
      : await sendCallback(request, {
          agents,
          signal: stop.signal,
          cutAfter: cutAfter(struck, body.content?.size ?? 0),
        });
    logged.answer = result.answer;
    logged.error = result.error;
    return result;
  };

  const notifyEntry = async (
    job: SimulatedJob,
    entry: NotificationConfig,
    index: number,
  ): Promise<NotificationOutcome> => {
    for (let attempt = 1; ; attempt += 1) {
      const struck = faults.ofAttempt({ jobId: job.id, region: job.region, entry: index, attempt });
      const find = <K extends NotificationFault['kind']>(kind: K) =>
        struck.find((fault): fault is Extract<NotificationFault, { kind: K }> => fault.kind === kind);
      if (find('drop')) return 'dropped';
      const delay = find('delay');
      if (delay) await clock.sleep(delay.ms, stop.signal);
      const result = await attemptOnce(job, entry, { entry: index, attempt, copy: false }, struck);
      if (result.answer && result.answer.status >= 200 && result.answer.status < 300) {
        if (find('duplicate')) await attemptOnce(job, entry, { entry: index, attempt, copy: true }, []);
        return 'delivered';
      }
      if (stop.signal.aborted) return 'interrupted';
      recordError(
        job,
        attemptFailure(job, entry, result.answer ?? { error: result.error ?? '' }),
        clock.now(),
      );
      const wait = RETRY_DELAYS_MS[attempt - 1];
      if (wait === undefined) {
        recordError(job, GIVEN_UP, clock.now());
        return 'failed';
      }
      await clock.sleep(wait, stop.signal);
    }
  };

  return {
    /** Sends to all entries in parallel; resolves when each was delivered or abandoned. */
    notify: (job: SimulatedJob) =>
      Promise.all(
        (job.config.notification_config ?? []).map((entry, index) =>
          notifyEntry(job, entry, index).catch((error: unknown) => {
            if (stop.signal.aborted) return 'interrupted' as const;
            throw error;
          }),
        ),
      ),
    /** Aborts notifications in flight; their outcome is `interrupted`. */
    close(): void {
      stop.abort();
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Bytes of the body after which the fault `cut` breaks the connection; null without it. */
function cutAfter(struck: readonly NotificationFault[], size: number): number | null {
  const cut = struck.find((fault) => fault.kind === 'cut');
  return cut === undefined ? null : Math.floor(size * (cut.share ?? 0.5));
}

/** Appends `id` and `status` to the query of the submitter's address. */
function callbackUrl(url: string, jobId: string, status: string): string {
  const [address = '', fragment] = url.split('#', 2);
  const query = `id=${encodeURIComponent(jobId)}&status=${encodeURIComponent(status)}`;
  const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  return `${address}${separator}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

function callbackMethod(entry: NotificationConfig): string {
  return (entry.method ?? 'POST').toUpperCase();
}

/** Header lines of the submitter, a repeated name as repeated header, and the service's user agent. */
function callbackHeaders(entry: NotificationConfig): Record<string, string | string[]> {
  const headers = new Map<string, [name: string, values: string[]]>();
  for (const line of entry.auth_headers ?? []) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const [, values] = headers.get(name.toLowerCase()) ?? [name, []];
    headers.set(name.toLowerCase(), [name, [...values, line.slice(colon + 1).trim()]]);
  }
  headers.set('user-agent', ['User-Agent', ['speech-API/2.0']]);
  const entries = [...headers.values()].map(([name, values]) => [
    name,
    values.length > 1 ? values : values[0],
  ]);
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

/** Texts as in the one public sample of a job record with failed notifications. */
function attemptFailure(
  job: SimulatedJob,
  entry: NotificationConfig,
  result: { status: number } | { error: string },
): string {
  const why =
    'status' in result
      ? `Response status: ${result.status}`
      : `${goVerb(entry)} "${callbackUrl(entry.url, job.id, job.outcome)}": ${result.error}`;
  return `Error in sending notification: unable to send notification: ${why}, retrying`;
}

const GIVEN_UP = 'Sending notification failed';

function goVerb(entry: NotificationConfig): string {
  return callbackMethod(entry) === 'PUT' ? 'Put' : 'Post';
}
