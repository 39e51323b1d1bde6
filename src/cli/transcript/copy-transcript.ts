import { createHash } from 'node:crypto';
import { openLedgerWriter } from '../../app/open-ledger-writer.js';
import { createAccessLedger } from '../../operations/admin/access/access-ledger.js';
import { CLI_ACTOR } from '../shared/cli-actor.js';
import { proveForWriting } from '../shared/on-store/prove-for-writing.js';
import type { LedgerWork } from '../shared/on-store/with-ledger.js';
import type { StoredTranscript } from './find-transcripts.js';
import type { TranscriptOutput } from './transcript-output.js';

/**
 * Copies a transcript in bounded memory, after the ledger has recorded the access. Returns why the copy is damaged or truncated, or null;
 * throws when nothing could be copied.
 */
export async function copyTranscript(
  { config, store, signal }: LedgerWork,
  jobId: string,
  { key, kind, size, sha256, info }: StoredTranscript,
  target: TranscriptOutput,
): Promise<string | null> {
  const hash = createHash('sha256');
  let copied = 0;
  try {
    await proveForWriting(config, store);
    const access = { actor: CLI_ACTOR };
    const item = { key, kind, size, sha256: sha256 ?? '' };
    const source = info.metadata.source ?? null;
    const ledger = openLedgerWriter(config, store);
    await createAccessLedger(ledger)
      .read({ access, peer: undefined, jobId, source, item })
      .finally(ledger.close);
    const reading = await store.read(key, null, 'download');
    if (reading === null) throw new Error(`${key} is gone`);
    signal.addEventListener('abort', () => reading.body.destroy(new Error('interrupted')), { once: true });
    for await (const chunk of reading.body) {
      hash.update(chunk);
      await target.write(chunk);
      copied += chunk.length;
    }
    const actual = hash.digest('hex');
    if (sha256 === null || sha256 === actual) {
      await target.end();
      return null;
    }
    await target.discard();
    return `${key} is damaged: its SHA-256 is ${actual}, the recorded one is ${sha256}`;
  } catch (error) {
    await target.discard();
    if (copied === 0) throw error;
    return `${key} was truncated after ${copied} of ${size} bytes: ${error instanceof Error ? error.message : String(error)}`;
  }
}
