import type { RetentionClass } from '../../domain/retention-class.js';
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
  'How long objects are kept; forever when not set. A file store removes older ones; on S3 lifecycle rules do, and this says what is not lost.',
  {
    transcript: expired('Transcripts of every format, and conflicts with them'),
    jobinfo: expired("The job's information"),
    data: expired('Media'),
    attachment: expired('Parts of unknown kind'),
    quarantine: expired('Undecodable bodies, released or not'),
    ledger: expired('Hours of the ledger, with Parquet files and rollups', SHORTEST_RECORDS),
    reports: expired('Reports of reconcile and verify, counts of refusals', SHORTEST_RECORDS),
    replays: expired('Replays that operators ordered', SHORTEST_RECORDS),
  } satisfies Record<RetentionClass, unknown>,
);
