import type { Config } from '../../config/config.js';
import { type Finding, passed, skipped, warned } from './finding.js';

const DAY = 86_400_000;
/** The service announces changes of its addresses weeks ahead; an older table should be compared. In days. */
const OLD = 90;

/**
 * @param now milliseconds since 1970
 */
export function checkEgress(
  { egress: { takenOn, regions }, sources }: Pick<Config, 'egress' | 'sources'>,
  now: number,
): Finding {
  const check = 'egress table';
  const named = Object.values(sources).flatMap(({ allow }) => allow);
  if (!named.some((entry) => Object.hasOwn(regions, entry))) {
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
