import type { RetentionClass } from '../../domain/kinds.js';
import { optional, section } from '../setting.js';
import * as types from '../value-types.js';

const DAY = 86_400_000;

/**
 * The receiver's own records are read this far back: what `verify` found shows for 35 days, its default window has 30.
 * In milliseconds.
 */
const SHORTEST_RECORDS = 40 * DAY;
const LONGEST = 36_500 * DAY;

const expired = (what: string, shortest = DAY) =>
  optional(types.duration(shortest, LONGEST), 'duration', `${what}.`);

export const retention = section(
  'Not set: forever. On S3 lifecycle rules remove objects; set the same periods here.',
  {
    transcript: expired('Every format, with conflicts'),
    jobinfo: expired("The job's information"),
    data: expired('Media'),
    attachment: expired('Parts of unknown kind'),
    quarantine: expired('Undecodable bodies'),
    ledger: expired('With merged hours', SHORTEST_RECORDS),
    reports: expired('Of reconcile and verify; counts of refusals', SHORTEST_RECORDS),
    replays: expired('Records of replays', SHORTEST_RECORDS),
  } satisfies Record<RetentionClass, unknown>,
);
