/** `skipped` was not looked at, and says why. */
export type Verdict = 'ok' | 'warning' | 'failed' | 'skipped';

/** What one check found, in words an operator can act on. */
export interface Finding {
  /** What was looked at, e.g. `store`; several findings may share it. */
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
  /** What to do; null when there is nothing to do. */
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
