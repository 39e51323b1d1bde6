import { type OpenArchive, openArchiveParts } from '../../app/archive-parts.js';
import { type Recording, type SessionContext, SessionDelivery } from '../../capture/session-delivery.js';
import type { Config } from '../../config/config.js';
import { StoreError } from '../../store/object-store.js';
import { probeStore } from '../../store/probe/probe-store.js';
import { WeakStoreError } from '../../store/probe/store-proof.js';

/** The archive and ledger of the receiver, opened for captures. */
export interface CaptureArchive {
  begin(context: SessionContext, recording: Recording | null): SessionDelivery;
  close(): Promise<void>;
}

const PAUSE_MS = 500;

/** Opens and probes the store, so that an unusable one is found before the session. */
export async function openCaptureArchive(config: Config): Promise<CaptureArchive> {
  const opened = await openArchiveParts(config);
  await prove(opened, config);
  const parts = { ...opened, pauseMs: PAUSE_MS };
  return {
    begin: (context, recording) => new SessionDelivery(parts, context, recording),
    close: () => opened.close(),
  };
}

async function prove(opened: OpenArchive, config: Config): Promise<void> {
  const { store } = opened;
  const { writable, trustworthy, findings } = await probeStore(store, { prefix: '.probe/' });
  if (writable && (trustworthy || config.store.s3.conditionalWrites === 'emulated')) return;
  await opened.close();
  const said = findings.join(' ');
  throw writable ? new WeakStoreError(store.location, said) : new StoreError('probe', said);
}
