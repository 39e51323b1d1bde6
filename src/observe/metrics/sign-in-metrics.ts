import { Counter, type Registry } from 'prom-client';

/** Causes of failed sign-ins. */
const SIGN_IN_FAILURES = ['missing', 'repeated', 'wrong', 'ticket-wrong', 'ticket-expired'] as const;
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number];

/** Failed sign-ins to the admin API. */
export function createSignInMetrics(registry: Registry) {
  const failures = new Counter({
    name: 'transcript_receiver_sign_in_failures_total',
    help: 'Requests to the admin API without a valid token or ticket, by cause',
    labelNames: ['cause'],
    registers: [registry],
  });
  // Present from the start: increase() does not see the first value of a series, so that an alert would miss it.
  for (const cause of SIGN_IN_FAILURES) failures.inc({ cause }, 0);
  return {
    /** Counts a failed sign-in by cause. */
    failed: (cause: SignInFailure) => failures.inc({ cause }),
  };
}
