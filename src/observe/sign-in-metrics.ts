import { Counter, type Registry } from 'prom-client';

/** What can be wrong with a sign-in. */
export const SIGN_IN_FAILURES = ['missing', 'repeated', 'wrong', 'ticket-wrong', 'ticket-expired'] as const;
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number];

/** Who tried to get into the admin API without being let in. */
export interface SignInMetrics {
  /** Counts a failed sign-in by what was wrong with it. */
  failed(cause: SignInFailure): void;
}

export function createSignInMetrics(registry: Registry): SignInMetrics {
  const failures = new Counter({
    name: 'transcript_receiver_sign_in_failures_total',
    help: 'Requests to the admin API without a valid token or ticket',
    labelNames: ['cause'],
    registers: [registry],
  });
  // There from the start: a series that begins at 1 has never increased, and an alert on increase() would miss it.
  for (const cause of SIGN_IN_FAILURES) failures.inc({ cause }, 0);
  return { failed: (cause) => failures.inc({ cause }) };
}
