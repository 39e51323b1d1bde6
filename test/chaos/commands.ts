import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import { checkMerged, layOldHour } from './old-hours.js';
import { type ProgramOptions, spawnProgram } from './replica.js';
import type { StoreView } from './store-view.js';

/** Exit codes of runs that were not killed; `replay` fails for each body that is really broken. */
const COMMANDS = {
  /** Nothing is left to merge where a replica was faster. */
  merge: { args: ['merge', '--all', '--json'], codes: [0, 1] },
  verify: { args: ['verify', '--since', '200d', '--json'], codes: [0] },
  reconcile: { args: ['reconcile', '--json'], codes: [0] },
  erase: { args: ['erase', '--unknown', '--yes', '--json'], codes: [0] },
  replay: { args: ['replay', 'release', '--since', '1m', '--json'], codes: [0, 4] },
} as const;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** Commands beside the replicas, on the same store. */
export interface Commands {
  /** Starts a command, kills it on the way, and runs it to its end; `url` is that of a replica. */
  kill(name: CommandName, random: Random, url: string): Promise<void>;
  /** Merges and verifies to the end. */
  finish(): Promise<CommandFindings>;
}

export interface CommandFindings {
  /** Runs that were killed before their end, by command. */
  readonly killed: ReadonlyMap<string, number>;
  readonly lost: readonly string[];
  readonly double: readonly string[];
  /** Runs that ended with another code than they should. */
  readonly failed: readonly string[];
}

/** Lays down the first hour: call it before the replicas start, which would merge an hour of which a half is there. */
export async function createCommands(
  {
    settings,
    token,
    ...program
  }: Omit<ProgramOptions, 'config'> & { readonly settings: () => object; readonly token: string },
  view: StoreView,
): Promise<Commands> {
  const killed = new Map<string, number>();
  const failed: string[] = [];
  const hours = [await layOldHour(view, 1)];
  let erased = 0;
  /** Milliseconds of the shortest run to the end. */
  const durations = new Map<CommandName, number>();

  async function run(
    name: CommandName,
    killAfterMs: number | null,
    more: readonly string[] = [],
  ): Promise<void> {
    const { args, codes } = COMMANDS[name];
    const began = performance.now();
    const child = spawnProgram([...args, ...more], { ...program, config: JSON.stringify(settings()) }, [
      'ignore',
      'pipe',
      'pipe',
    ]);
    const output = collectOutput(child);
    const timer = killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    const [code, signal] = await once(child, 'close');
    clearTimeout(timer);
    if (signal === 'SIGKILL') {
      killed.set(name, (killed.get(name) ?? 0) + 1);
      return;
    }
    durations.set(name, Math.min(durations.get(name) ?? Infinity, performance.now() - began));
    if (!codes.some((expected) => expected === code))
      failed.push(`${name} ended with ${code}: ${output().slice(-1_500)}`);
  }

  return {
    async kill(name, random, url) {
      const killAfterMs = (durations.get(name) ?? 2_000) * (0.3 + 0.6 * random.next());
      if (name === 'erase') {
        erased += 1;
        const jobId = await layJob(view, erased);
        await run(name, killAfterMs, [jobId]);
        await run(name, null, [jobId]);
        const answer = await sendLate(`${url}/callbacks/default?id=${jobId}&status=success`, token);
        if (!answer.includes('"outcome":"noted"'))
          failed.push(`${jobId} was erased, and a callback answered ${answer}`);
        return;
      }
      await run(name, killAfterMs);
      await run(name, null);
      // Older than all that is merged, which replicas do not look at again: this one waits for the command.
      if (name === 'merge') hours.push(await layOldHour(view, hours.length + 1));
    },
    async finish() {
      await run('merge', null);
      await run('verify', null);
      return { ...(await checkMerged(view, hours)), failed, killed };
    },
  };
}

async function sendLate(url: string, token: string): Promise<string> {
  const headers = { 'x-chaos-token': token, 'content-type': 'application/json' };
  const body = '{"format":"2.9","results":[]}';
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { method: 'POST', headers, body });
    if (response.status !== 503 || attempt === 20) return response.text();
    await sleep(500);
  }
}

const ARTEFACTS = 200;

/** Writes a job of many artefacts, to be erased: whatever is left of it holds bytes that nobody sent. Resolves to its id. */
async function layJob(view: StoreView, number: number): Promise<string> {
  const jobId = `erased-${number}`;
  const names = Array.from(
    { length: ARTEFACTS },
    (_, n) => `attachments/${n.toString(16).padStart(16, '0')}.txt`,
  );
  for (const name of ['transcript.json', `conflicts/transcript.json.${'0'.repeat(64)}`, ...names])
    await view.write(`jobs/${jobId}/${name}`, `${jobId} ${name}`);
  return jobId;
}

function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return () => text;
}
