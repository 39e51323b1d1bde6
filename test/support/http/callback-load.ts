import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import type { Acknowledgement } from '../../../src/domain/delivery.js';

/** A delivery that was acknowledged, with the hashes that the store must hold. */
export interface Acknowledged {
  readonly answer: Acknowledgement;
  /** SHA-256 of what was sent, by item. */
  readonly sent: readonly string[];
}

export interface LoadResult {
  readonly acknowledged: readonly Acknowledged[];
  /** Answers other than 2xx, by status; connections that broke count as 0. */
  readonly refused: Readonly<Record<number, number>>;
}

export interface LoadPlan {
  readonly jobs: readonly string[];
  readonly concurrency: number;
  /** Every `every`-th callback carries media of `bytes` beside its transcript. */
  readonly media?: { readonly every: number; readonly bytes: number };
  /** Called after each acknowledgement with their count. */
  readonly onAcknowledged?: (count: number) => void;
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A transcript that no other job has. */
export function transcriptOf(jobId: string): string {
  const results = [
    {
      alternatives: [{ confidence: 1, content: `word of ${jobId}` }],
      start_time: 0,
      end_time: 1,
      type: 'word',
    },
  ];
  return JSON.stringify({ format: '2.9', job: { id: jobId }, metadata: { type: 'transcription' }, results });
}

/** Media of that size that no other job has. */
export function mediaOf(jobId: string, bytes: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(jobId).digest();
}

/** Sends one callback per job, and collects the acknowledged ones. A broken connection is not an error here. */
export async function sendLoad(publicUrl: string, plan: LoadPlan): Promise<LoadResult> {
  const pool = new Pool(publicUrl, { connections: plan.concurrency });
  const acknowledged: Acknowledged[] = [];
  const refused: Record<number, number> = {};
  const queue = [...plan.jobs.entries()];

  async function sendOne(index: number, jobId: string): Promise<void> {
    const hasMedia = plan.media !== undefined && index % plan.media.every === 0;
    const { body, type, sent } = hasMedia ? formOf(jobId, plan.media?.bytes ?? 0) : lone(jobId);
    const path = `/callbacks/default?id=${jobId}&status=success`;
    const response = await pool.request({ method: 'POST', path, headers: { 'content-type': type }, body });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      refused[response.statusCode] = (refused[response.statusCode] ?? 0) + 1;
      return;
    }
    acknowledged.push({ answer: JSON.parse(text) as Acknowledgement, sent });
    plan.onAcknowledged?.(acknowledged.length);
  }

  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await sendOne(...next).catch(() => {
        refused[0] = (refused[0] ?? 0) + 1;
      });
    }
  }

  await Promise.all(Array.from({ length: plan.concurrency }, work));
  await pool.destroy();
  return { acknowledged, refused };
}

function lone(jobId: string) {
  const body = transcriptOf(jobId);
  return { body: Buffer.from(body), type: 'application/json', sent: [sha256(body)] };
}

function formOf(jobId: string, bytes: number) {
  const transcript = transcriptOf(jobId);
  const media = mediaOf(jobId, bytes);
  const head = (name: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n`;
  const pieces = [head('transcript'), transcript, '\r\n', head('data'), media, '\r\n--b--\r\n'];
  const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  return { body, type: 'multipart/form-data; boundary=b', sent: [sha256(transcript), sha256(media)] };
}
