import type { RetrievableKind } from '../../domain/kinds.js';
import { Problem } from '../../domain/problem.js';
import { SpeechError } from '../../speech/speech-error.js';
import { StoreError } from '../../store/object-store.js';

/** Reason for work that the caller's signal interrupted. */
export const INTERRUPTED = 'the run was interrupted';

/** Reason for a job that its region no longer knows. */
export const VANISHED = 'the job vanished from the service';

/** Reason for a job that belongs to no source here. */
export const SOURCE_REQUIRED =
  'none of its callback URLs leads here: name the source (transcript-receiver refetch <job> --source <name>)';

/** The service sent something that cannot be the artefact that was requested. */
export class UnfitContentError extends Error {
  constructor(kind: RetrievableKind, fault: string) {
    super(`the ${kind} that the service sent ${fault}; it was not archived`);
    this.name = 'UnfitContentError';
  }
}

/** An operator erased the job. Nothing of it is stored any more. */
export class ErasedError extends Error {
  constructor() {
    super('erased here by an operator, so not fetched again');
    this.name = 'ErasedError';
  }
}

/** The text of an error for reports and the ledger. The message of an unknown error may hold secrets and is left out. */
export function failureReason(error: unknown): string {
  if (error instanceof StoreError) return `the store failed: ${error.message}`;
  const isOwn =
    error instanceof SpeechError || error instanceof Problem || error instanceof UnfitContentError;
  return isOwn ? error.message : 'an unexpected error occurred';
}

/** Whether the region has answered that it does not know the job, or no longer has it. */
export function isUnknownJob(error: unknown): boolean {
  return error instanceof SpeechError && (error.kind === 'not-found' || error.kind === 'gone');
}

/** Whether the region was not asked, because its address or the key is missing. */
export function isNotConfigured(error: unknown): boolean {
  return error instanceof SpeechError && error.kind === 'configuration';
}
