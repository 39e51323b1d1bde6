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
  optional(types.duration(shortest, LONGEST), 'duration', `${what}; kept for ever when not set.`);

export const retention = section(
  'How long objects are kept, by kind. On a file: store they are removed when they are older. On S3 the rules of the bucket remove them; these settings then say what has expired, so that it is not taken for lost.',
  {
    transcript: expired('Transcripts of every format, and conflicts with them'),
    jobinfo: expired("The job's information"),
    data: expired('Media'),
    attachment: expired('Parts of unknown kind'),
    quarantine: expired('Bodies that could not be decoded, released or not'),
    ledger: expired('Whole hours of the ledger, with their Parquet files and rollups', SHORTEST_RECORDS),
    reports: expired('Reports of reconcile and verify, counts of refusals', SHORTEST_RECORDS),
    replays: expired('Replays that operators ordered', SHORTEST_RECORDS),
  } satisfies Record<RetentionClass, unknown>,
);
