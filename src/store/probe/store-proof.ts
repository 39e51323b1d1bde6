import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../../lib/time/deadline.js';
import { OtherStoreError } from '../object-store.js';
import { diagnose } from '../store-condition.js';
import type { StoreCondition } from '../store-remedies.js';
import type { ProbeReport } from './probe-store.js';

/** The store cannot be used with this configuration, and retrying is useless: the message says why, and what to do. */
export class WeakStoreError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WeakStoreError';
  }
}

/** Two deliveries could overwrite each other, and the configuration does not accept that. */
function overwriting(location: string, findings: string): WeakStoreError {
  return new WeakStoreError(
    `${location} does not keep first-write-wins: ${findings} Use a store with atomic conditional ` +
      'writes, or accept the weaker guarantee with store.s3.conditionalWrites: emulated.',
  );
}

/** The store did not pass the probe, but may pass later. */
class UnprovenStoreError extends Error {
  readonly condition: StoreCondition | null;

  constructor({ findings, condition }: ProbeReport) {
    super(findings.join(' '));
    this.name = 'UnprovenStoreError';
    this.condition = condition;
  }
}

const IDENTIFY_WITHIN = 10_000;

export interface StoreProofTarget {
  readonly location: string;
  /** Must end in bounded time. */
  readonly probe: () => Promise<ProbeReport>;
  readonly acceptWeak: boolean;
  /** Throws when the store is not the pinned one. May never end when the store hangs. */
  readonly identify: () => Promise<unknown>;
}

/**
 * Probes the store once. Resolves when it may take deliveries, to a warning or null.
 * Throws `WeakStoreError` or `OtherStoreError` for a store that will never pass; any other error may be temporary.
 */
export async function proveStore(target: StoreProofTarget): Promise<string | null> {
  const { location, probe, acceptWeak, identify } = target;
  const unidentified = await withDeadline(
    identify(),
    IDENTIFY_WITHIN,
    'the store did not answer in time',
  ).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (unidentified?.error instanceof OtherStoreError) throw unidentified.error;
  const report = await probe();
  const findings = report.findings.join(' ');
  if (report.unfit !== null)
    throw new WeakStoreError(`${location} cannot be used: ${report.unfit}. ${OTHER_STORE}`);
  if (!report.writable) throw new UnprovenStoreError(report);
  if (unidentified !== null) throw unidentified.error;
  if (report.trustworthy) return report.warnings.length === 0 ? null : report.warnings.join(' ');
  if (acceptWeak) return `weaker guarantee accepted: ${findings}`;
  if (isWeak(report)) throw overwriting(location, findings);
  throw new UnprovenStoreError(report);
}

const OTHER_STORE = 'docs/stores.md, "Which servers work", names stores that can.';

/** A store that answers with an error may recover; one that overwrites objects will not. */
function isWeak({ conditionalPut, conditionalComplete }: ProbeReport): boolean {
  return [conditionalPut, conditionalComplete].some((finding) => finding === 'ignored' || finding === 'racy');
}

export interface StoreProofOptions extends StoreProofTarget {
  /** Milliseconds between attempts. */
  readonly retryAfter: number;
  /** Called with a warning about a store that passed. */
  readonly onWarning: (message: string) => void;
  /** Called after every failed attempt, with the condition of the whole store that it shows. */
  readonly onFailure: (reason: string, condition: StoreCondition | null) => void;
}

/**
 * Probes until the store is proven, so that a replica that starts during an outage is ready when it ends. Resolves to true then, or to
 * false when the signal aborts first. Rejects with `WeakStoreError` or `OtherStoreError` as soon as an attempt finds the store unfit.
 */
export async function proveRepeatedly(options: StoreProofOptions, signal: AbortSignal): Promise<boolean> {
  const { retryAfter, onWarning, onFailure } = options;
  while (!signal.aborted) {
    try {
      const warning = await proveStore(options);
      if (warning !== null) onWarning(warning);
      return true;
    } catch (error) {
      if (error instanceof WeakStoreError || error instanceof OtherStoreError) throw error;
      const { reason, condition } = diagnose(error);
      if (!signal.aborted)
        onFailure(reason, error instanceof UnprovenStoreError ? error.condition : condition);
    }
    await sleep(retryAfter, null, { signal }).catch(() => undefined);
  }
  return false;
}
