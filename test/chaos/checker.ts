import type { Account, AcknowledgedCallback } from './account.js';
import { sha256 } from './callbacks.js';
import type { StoreView } from './store-view.js';

/**
 * Compares what was acknowledged with what lies in the store. Knows the published key layout and ledger lines and
 * nothing else of the product: it imports nothing of it.
 */
export interface Verdict {
  readonly objects: number;
  readonly ledgerLines: number;
  /** Acknowledged, and not there: an artefact, a quarantined body or a ledger line. */
  readonly lost: string[];
  /** There, but not with the bytes that were sent. */
  readonly damaged: string[];
  /** Visible, acknowledged or not, with bytes that were not sent for that key. */
  readonly foreign: string[];
  /** The same thing stored or recorded twice. */
  readonly double: string[];
  /** Visible although its delivery was never whole, or only a part of one. */
  readonly halfVisible: string[];
}

interface Line {
  readonly deliveryId: string;
  readonly outcome: string;
  readonly jobId: string | null;
  readonly items: readonly { readonly key: string; readonly sha256: string; readonly outcome: string }[];
}

/** Hashes of everything visible, by key. */
type Contents = ReadonlyMap<string, string>;

/** @param otherJobs jobs that another part of the run sends and compares */
export async function check(
  account: Account,
  otherJobs: ReadonlySet<string>,
  view: StoreView,
): Promise<Verdict> {
  const keys = await view.keys();
  const contents = await hashAll(
    view,
    keys.filter((key) => !key.startsWith('ledger/')),
  );
  const verdict: Verdict = {
    objects: contents.size,
    ledgerLines: 0,
    lost: [],
    damaged: [],
    foreign: [],
    double: [],
    halfVisible: [],
  };
  const lines = await readLedger(view, keys, verdict);
  for (const one of account.acknowledged) checkPromise(one, contents, lines, verdict);
  checkLedger(lines, contents, verdict);
  checkJobs(account, contents, verdict);
  checkOrigin(account, otherJobs, contents, verdict);
  return { ...verdict, ledgerLines: [...lines.values()].flat().length };
}

async function hashAll(view: StoreView, keys: readonly string[]): Promise<Contents> {
  const contents = new Map<string, string>();
  await readAll(view, keys, (key, content) => contents.set(key, sha256(content)));
  return contents;
}

async function readAll(
  view: StoreView,
  keys: readonly string[],
  take: (key: string, content: Buffer) => void,
): Promise<void> {
  const waiting = [...keys];
  const work = async () => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) take(key, await view.read(key));
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

async function readLedger(
  view: StoreView,
  keys: readonly string[],
  verdict: Verdict,
): Promise<Map<string, Line[]>> {
  const lines = new Map<string, Line[]>();
  const segments = keys.filter((name) => name.startsWith('ledger/'));
  await readAll(view, segments, (key, content) => {
    for (const text of content.toString().split('\n')) {
      if (text === '') continue;
      try {
        const line = JSON.parse(text) as Line;
        lines.set(line.deliveryId, [...(lines.get(line.deliveryId) ?? []), line]);
      } catch {
        verdict.damaged.push(`${key}: a line that is no JSON`);
      }
    }
  });
  return lines;
}

/** A 2xx promises that the bytes are stored under the acknowledged keys, and that one ledger line agrees. */
function checkPromise(
  { callback, acknowledgement }: AcknowledgedCallback,
  contents: Contents,
  lines: ReadonlyMap<string, Line[]>,
  verdict: Verdict,
): void {
  const name = `${callback.jobId} ${acknowledgement.deliveryId} (${acknowledgement.outcome})`;
  const own = lines.get(acknowledgement.deliveryId) ?? [];
  if (own.length === 0) verdict.lost.push(`${name}: no ledger line`);
  if (own.length > 1) verdict.double.push(`${name}: ${own.length} ledger lines`);
  if (own.some(({ outcome }) => outcome !== acknowledgement.outcome))
    verdict.damaged.push(`${name}: the ledger says ${own.map(({ outcome }) => outcome)}`);
  if (acknowledgement.outcome === 'quarantined') {
    const hash = contents.get(`quarantine/${acknowledgement.deliveryId}/body`);
    if (hash === undefined || !contents.has(`quarantine/${acknowledgement.deliveryId}/request.json`))
      verdict.lost.push(`${name}: not in quarantine`);
    else if (hash !== sha256(callback.body)) verdict.damaged.push(`${name}: other bytes in quarantine`);
    if (!callback.malformed) verdict.damaged.push(`${name}: a good body was taken for a broken one`);
    return;
  }
  if (callback.malformed) verdict.damaged.push(`${name}: a broken body was taken for a good one`);
  const acknowledged = acknowledgement.items.map((item) => item.sha256).sort();
  const sent = callback.items.map((item) => item.sha256).sort();
  if (acknowledged.join() !== sent.join())
    verdict.damaged.push(`${name}: the answer names other bytes than were sent`);
  for (const { key, sha256: promised } of acknowledgement.items) {
    const hash = contents.get(key);
    if (hash === undefined) verdict.lost.push(`${name}: ${key} is not there`);
    else if (hash !== promised) verdict.damaged.push(`${name}: ${key} holds other bytes`);
  }
}

/** Every visible object of a job, acknowledged or not, holds what was sent for that very key. */
function checkOrigin(
  account: Account,
  otherJobs: ReadonlySet<string>,
  contents: Contents,
  verdict: Verdict,
): void {
  const senders = new Map<string, string>();
  const bodies = new Set<string>();
  for (const [jobId, callbacks] of account.sent) {
    for (const { items, body, malformed } of callbacks) {
      for (const { file, sha256: hash } of items) senders.set(hash, `${jobId}/${file}`);
      if (malformed) bodies.add(sha256(body));
    }
  }
  for (const [key, hash] of contents) {
    const [, jobId, file = ''] = /^jobs\/([^/]+)\/(.+)$/.exec(key) ?? [];
    if (/^quarantine\/[^/]+\/body$/.test(key) && !bodies.has(hash))
      verdict.foreign.push(`${key} holds no body that was sent`);
    if (jobId === undefined || otherJobs.has(jobId)) continue;
    const sent = (account.sent.get(jobId) ?? []).flatMap(({ items }) => items);
    if (sent.some((item) => item.file === kindOf(file) && item.sha256 === hash)) continue;
    const owner = senders.get(hash);
    verdict.foreign.push(`${key} holds ${owner === undefined ? 'unsent bytes' : `the bytes of ${owner}`}`);
  }
}

/** No delivery is recorded twice, no key created twice, and what a line says was stored is there. */
function checkLedger(lines: ReadonlyMap<string, Line[]>, contents: Contents, verdict: Verdict): void {
  const creators = new Map<string, string>();
  for (const [id, own] of lines) {
    // When the ledger write succeeds but its response is lost, a refusal line follows: the sender got 503 and retried.
    const deeds = own.filter(({ outcome }) => outcome !== 'refused');
    if (deeds.length > 1) verdict.double.push(`${id}: ${deeds.length} ledger lines`);
    for (const { key, sha256: hash, outcome } of deeds[0]?.items ?? []) {
      // An operator's look at content.
      if (outcome === 'read') continue;
      if (contents.get(key) !== hash)
        verdict.lost.push(`${id}: the ledger names ${key}, which is not there so`);
      if (outcome !== 'created') continue;
      const before = creators.get(key);
      if (before !== undefined) verdict.double.push(`${key}: created by ${before} and ${id}`);
      creators.set(key, id);
    }
  }
}

/** What lies in a job's folder came from a whole delivery of that job, all of it, and once. */
function checkJobs(account: Account, contents: Contents, verdict: Verdict): void {
  const jobs = new Map<string, { file: string; hash: string }[]>();
  for (const [key, hash] of contents) {
    const [, jobId, path] = /^jobs\/([^/]+)\/(.+)$/.exec(key) ?? [];
    if (jobId === undefined || path === undefined || !account.sent.has(jobId)) continue;
    jobs.set(jobId, [...(jobs.get(jobId) ?? []), { file: path, hash }]);
  }
  for (const [jobId, files] of jobs) checkJob(jobId, files, account, verdict);
}

function checkJob(
  jobId: string,
  files: readonly { file: string; hash: string }[],
  account: Account,
  verdict: Verdict,
): void {
  const callbacks = account.sent.get(jobId) ?? [];
  const visible = new Set(files.map(({ hash }) => hash));
  for (const callback of callbacks) {
    const there = callback.items.filter((item) => visible.has(item.sha256));
    if (there.length === 0) continue;
    if (!account.whole.has(callback))
      verdict.halfVisible.push(`${jobId}: ${there.length} items of a body that never came whole`);
    else if (there.length < callback.items.length && !account.givenUp.includes(callback))
      verdict.halfVisible.push(`${jobId}: ${there.length} of ${callback.items.length} items`);
  }
  for (const { file, hash } of files) {
    const twins = files.filter((other) => other.hash === hash && kindOf(other.file) === kindOf(file));
    if (twins.length > 1 && twins[0]?.file === file)
      verdict.double.push(`${jobId}: the same bytes at ${twins.map((twin) => twin.file).join(' and ')}`);
  }
}

/** `conflicts/transcript.json.<mark>` is a `transcript.json`. */
function kindOf(file: string): string {
  return file.startsWith('conflicts/') ? file.slice('conflicts/'.length).replace(/\.[^.]+$/, '') : file;
}
