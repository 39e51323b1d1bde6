/** `skipped`: not checked; the message gives the reason. */
export type Verdict = 'ok' | 'warning' | 'failed' | 'skipped';

/** Result of one check. */
export interface Finding {
  /** Name of the check, e.g. `store`; several findings may share it. */
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
  /** Recommended action; null when none is needed. */
  readonly advice: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, advice: null };
}

export function warning(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'warning', message, advice };
}

export function failed(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'failed', message, advice };
}

export function skipped(check: string, message: string): Finding {
  return { check, verdict: 'skipped', message, advice: null };
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
