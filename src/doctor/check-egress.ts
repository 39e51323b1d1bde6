import { type Finding, ok, skipped, warning } from './finding.js';

const DAY = 86_400_000;
/** The service announces changes of its addresses weeks ahead; a table older than this is worth a look. */
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
  const message = `The service's addresses were taken on ${takenOn}, ${age} days ago.`;
  return age <= OLD
    ? ok(check, message)
    : warning(
        check,
        message,
        "Compare with the service's current list; override egress.regions and egress.takenOn when it changed.",
      );
}
