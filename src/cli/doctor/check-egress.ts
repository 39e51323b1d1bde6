import { type Finding, passed, skipped, warned } from './finding.js';

const DAY = 86_400_000;
/** The service announces changes of its addresses weeks ahead; an older table should be compared. In days. */
const OLD = 90;

export interface EgressCheckOptions {
  /** Date the table was taken, as `YYYY-MM-DD`. */
  readonly takenOn: string;
  /** Names of the table's regions. */
  readonly regions: readonly string[];
  /** All entries of all sources' allowlists. */
  readonly allow: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function checkEgress({ takenOn, regions, allow, now }: EgressCheckOptions): Finding {
  const check = 'egress table';
  if (!allow.some((entry) => regions.includes(entry))) {
    return skipped(check, 'No source names a region in its allowlist.');
  }
  const age = Math.max(0, Math.floor((now - Date.parse(takenOn)) / DAY));
  const message = `The list of the service's addresses is of ${takenOn}, ${age} days old.`;
  return age <= OLD
    ? passed(check, message)
    : warned(
        check,
        message,
        "Compare with the service's current list; if it changed, set egress.regions and egress.takenOn.",
      );
}
