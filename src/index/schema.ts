import { HOUR } from '../ledger/hours.js';
import { MAX_LINES } from '../ledger/parse-segment.js';

/**
 * Tables of the index. It is a projection of the log: a file with another layout is deleted and built again, so that there are no
 * migrations. Times are milliseconds since the epoch.
 *
 * `lines` holds what filters, order and figures need of a line. Its text stays in the log, at the place that `segments` and `runs` name.
 */
export const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

  -- A writer in an hour, and the last of its numbers that is in the index: the position.
  CREATE TABLE runs (id INTEGER PRIMARY KEY, hour INTEGER NOT NULL, writer TEXT NOT NULL, number INTEGER NOT NULL,
    UNIQUE (hour, writer));
  -- Numbers up to the position whose segments are missing, and segments with lines that cannot be read.
  CREATE TABLE missing (run INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, lines INTEGER NOT NULL,
    PRIMARY KEY (run, first)) WITHOUT ROWID;
  -- Objects of merged hours that are missing or damaged; segments: those of them that may be lacking and have no row in missing.
  CREATE TABLE faults (key TEXT PRIMARY KEY, hour INTEGER NOT NULL, segments INTEGER NOT NULL) WITHOUT ROWID;
  -- An id is never used again: failures outlive their lines.
  CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, number INTEGER NOT NULL,
    written INTEGER NOT NULL);
  CREATE INDEX segments_by_run ON segments (run, number);

  -- The combinations of the fields that filters name, of an act its actor: some hundred, however many lines there are.
  CREATE TABLE classes (id INTEGER PRIMARY KEY, fields TEXT NOT NULL UNIQUE);

  -- id: that of the segment, then the index of the line in it. took: milliseconds of a callback.
  -- due: when the callback of a job was expected that recovery had to fetch. kinds: bits of what it brought.
  -- start, length: bytes of its text in the segment.
  CREATE TABLE lines (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, class INTEGER NOT NULL, job TEXT,
    received INTEGER NOT NULL, bytes INTEGER NOT NULL, took INTEGER, due INTEGER, kinds INTEGER NOT NULL, start INTEGER NOT NULL,
    length INTEGER NOT NULL);
  CREATE INDEX lines_by_class ON lines (class, written);
  CREATE INDEX lines_by_job ON lines (job, class, received) WHERE job IS NOT NULL;
  CREATE INDEX lines_by_due ON lines (due, class, job) WHERE due IS NOT NULL;
  -- Values of the context, each once; empty: one that was left out. An id is never used again.
  CREATE TABLE context_values (name TEXT NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (name, value)) WITHOUT ROWID;
  -- Lines with a value, and what figures need of them; class, bucket, bytes, took: as in lines and figures.
  CREATE TABLE contexts (value INTEGER NOT NULL, written INTEGER NOT NULL, line INTEGER NOT NULL, class INTEGER NOT NULL,
    bucket INTEGER NOT NULL, bytes INTEGER NOT NULL, took INTEGER, PRIMARY KEY (value, written, line)) WITHOUT ROWID;
  CREATE VIEW context_lines AS
    SELECT v.name, v.value, c.line AS id, c.written, c.class, c.bucket, c.bytes, c.took
    FROM context_values v CROSS JOIN contexts c ON c.value = v.id;

  -- The newest failing line of each job and class that no line of the job settles; first: receipt of the first line of the job, or when its
  -- callback was expected, if that is earlier; reason: what it has in common with other jobs, without the id.
  CREATE TABLE failures (job TEXT NOT NULL, class INTEGER NOT NULL, line INTEGER NOT NULL, received INTEGER NOT NULL,
    first INTEGER NOT NULL, reason TEXT, bytes INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
    PRIMARY KEY (job, class)) WITHOUT ROWID;
  CREATE INDEX failures_by_first ON failures (first, job);

  -- Quarantined bodies. id: of the line; missing: bits of what the job lacks of what the body should have brought; released, settled: the
  -- line of a release, and of the first act that settled it.
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, delivery TEXT NOT NULL, job TEXT NOT NULL, class INTEGER NOT NULL, source TEXT,
    received INTEGER NOT NULL, bytes INTEGER NOT NULL, wanted INTEGER NOT NULL, missing INTEGER NOT NULL, released INTEGER,
    settled INTEGER, settled_at INTEGER,
    state TEXT AS (CASE WHEN released THEN 'released' WHEN settled OR NOT missing THEN 'settled' ELSE 'waiting' END));
  CREATE INDEX bodies_by_state ON bodies (state, delivery);
  CREATE INDEX bodies_by_delivery ON bodies (delivery);
  CREATE INDEX bodies_by_job ON bodies (job, delivery);
  -- Releases and dismissals, which may be read before the body; id: of the line.
  CREATE TABLE body_acts (id INTEGER PRIMARY KEY, delivery TEXT NOT NULL, received INTEGER NOT NULL, is_release INTEGER NOT NULL);
  CREATE INDEX body_acts_by_delivery ON body_acts (delivery);

  -- Sums by the stretch of the time of writing. width: milliseconds of the stretch; bucket: that of the duration of callbacks, of other
  -- lines -1; longest: that duration.
  CREATE TABLE figures (width INTEGER NOT NULL, start INTEGER NOT NULL, class INTEGER NOT NULL, bucket INTEGER NOT NULL,
    lines INTEGER NOT NULL, bytes INTEGER NOT NULL, longest REAL NOT NULL, PRIMARY KEY (width, start, class, bucket)) WITHOUT ROWID;

  -- Attempts to send events; id as that of a line. run, number: segment of the event's own line, for a first attempt; rank: what ended the
  -- event stands until it is delivered, a failed replay only without other attempts; decides: the attempt that says what became of its
  -- event.
  CREATE TABLE attempts (id INTEGER PRIMARY KEY, subscriber TEXT NOT NULL, event TEXT NOT NULL, job TEXT NOT NULL, source TEXT,
    type TEXT NOT NULL, at INTEGER NOT NULL, status INTEGER, error TEXT, attempt INTEGER NOT NULL, ended TEXT, duration INTEGER NOT NULL,
    run INTEGER, number INTEGER, rank INTEGER NOT NULL, decides INTEGER NOT NULL);
  CREATE INDEX attempts_by_event ON attempts (subscriber, event);
  CREATE INDEX attempts_by_job ON attempts (job) WHERE decides;
  CREATE INDEX attempts_by_time ON attempts (subscriber, at, event) WHERE decides;
  CREATE INDEX attempts_by_end ON attempts (subscriber, ended, source, at) WHERE decides;
  CREATE INDEX attempts_failed ON attempts (subscriber, source, at) WHERE rank < 2;
  CREATE INDEX attempts_repeated ON attempts (subscriber, source) WHERE attempt > 1;
  CREATE INDEX attempts_by_line ON attempts (run, subscriber, number) WHERE run IS NOT NULL;
  CREATE TRIGGER attempt_added AFTER INSERT ON attempts BEGIN
    ${decide('NEW')}
  END;
  CREATE TRIGGER attempt_deleted AFTER DELETE ON attempts WHEN OLD.decides BEGIN
    ${decide('OLD')}
  END;
`;

/** Marks the deciding attempt, independently of the order in which attempts are read. Equal attempts look the same to users. */
function decide(row: 'NEW' | 'OLD'): string {
  const own = `subscriber = ${row}.subscriber AND event = ${row}.event`;
  return `UPDATE attempts SET decides = (id = (SELECT id FROM attempts WHERE ${own}
      ORDER BY rank DESC, at DESC, attempt DESC, status DESC, error DESC, id LIMIT 1)) WHERE ${own};`;
}

/** The lines of a segment have ids from `segment * LINES` on. */
export const LINES = MAX_LINES;

/** Milliseconds of the stretches by which lines are summed: short ones for charts of a day, hours for longer ones. */
export const STRETCH = 300_000;
export const WIDTHS = [HOUR, STRETCH] as const;
