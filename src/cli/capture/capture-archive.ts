import { type ArchiveParts, openArchiveParts } from '../../app/archive-parts.js';
import { storeIdentity } from '../../app/store-options.js';
import { findJournals, type RescueParts, rescueSessions } from '../../capture/rescue-sessions.js';
import {
  beginSessionDelivery,
  type Recording,
  type SessionContext,
  type SessionDelivery,
} from '../../capture/session-delivery.js';
import { beginJournal, type SessionJournal } from '../../capture/session-journal.js';
import type { SessionHead } from '../../capture/session-transcripts.js';
import type { Config } from '../../config/config.js';
import { StoreError } from '../../store/object-store.js';
import { probeStore } from '../../store/probe-store.js';
import { WeakStoreError } from '../../store/store-proof.js';

/** The archive and ledger of the receiver, opened for captures. */
export interface CaptureArchive {
  /** Location of the store, as journals name it. */
  readonly location: string;
  begin(context: SessionContext, recording: Recording | null): SessionDelivery;
  /** Null, with a note, when the disk cannot be written: the session goes on without a journal. */
  beginJournal(head: SessionHead, onNote: (text: string) => void): SessionJournal | null;
  /** Journals of killed processes. */
  findJournals(onNote: (text: string) => void): Promise<string[]>;
  /** Archives them. Never rejects. */
  rescue(journals: readonly string[], onNote: (text: string) => void): Promise<void>;
  close(): Promise<void>;
}

const PAUSE_MS = 500;

/** Opens and probes the store, so that an unusable one is found before the session. */
export async function openCaptureArchive(config: Config): Promise<CaptureArchive> {
  const opened = await openArchiveParts(config);
  await prove(opened, config);
  const location = storeIdentity(config, opened.store.location);
  const parts = { ...opened, pauseMs: PAUSE_MS };
  const folder = config.capture.rescueFolder;
  const rescueParts = (onNote: (text: string) => void): RescueParts => ({
    ...parts,
    location,
    folder,
    observer: {
      onFound: (path) => onNote(`Archiving the interrupted session in ${path}.`),
      onArchived: (_path, _jobId, items) =>
        onNote(`Archived from the interrupted session: ${items.map(({ key }) => key).join(', ')}`),
      onLeft: (path, reason) => onNote(`The interrupted session in ${path} was not archived: ${reason}`),
    },
  });
  return {
    location,
    begin: (context, recording) => beginSessionDelivery(parts, context, recording),
    beginJournal(head, onNote) {
      const onWriteError = ({ message }: Error): void =>
        onNote(`Final segments cannot be saved to disk during the session: ${message}`);
      try {
        return beginJournal(head, { folder, onWriteError });
      } catch (error) {
        onWriteError(error as Error);
        return null;
      }
    },
    findJournals: (onNote) => findJournals(rescueParts(onNote)),
    rescue: (journals, onNote) => rescueSessions(rescueParts(onNote), journals),
    close: () => opened.close(),
  };
}

async function prove(opened: ArchiveParts, config: Config): Promise<void> {
  const { store } = opened;
  const { writable, trustworthy, findings } = await probeStore(store, { prefix: '.probe/' });
  if (writable && (trustworthy || config.store.s3.conditionalWrites === 'emulated')) return;
  await opened.close();
  const said = findings.join(' ');
  throw writable ? new WeakStoreError(store.location, said) : new StoreError('probe', said);
}
