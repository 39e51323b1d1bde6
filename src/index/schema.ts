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
  -- Numbers up to the position whose segments are missing, and segments with lines that cannot be read;
  -- newer: those of them that a newer version wrote.
  CREATE TABLE missing (run INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, lines INTEGER NOT NULL,
    newer INTEGER NOT NULL, PRIMARY KEY (run, first)) WITHOUT ROWID;
  -- Objects of merged hours that are missing or damaged; segments: those of them that may be lacking and have no row in missing.
  CREATE TABLE faults (key TEXT PRIMARY KEY, hour INTEGER NOT NULL, segments INTEGER NOT NULL) WITHOUT ROWID;
  -- Hours that were read to their end after nothing could appear in them any more, and those that are being deleted.
  CREATE TABLE hours (hour INTEGER PRIMARY KEY, is_deleted INTEGER NOT NULL);
  -- An id is never used again: rows of contexts outlive their segment for a while.
  CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, number INTEGER NOT NULL,
    written INTEGER NOT NULL);
  CREATE INDEX segments_by_run ON segments (run, number);

  -- The combinations of the fields that filters name, of an act its actor: some hundred, however many lines there are.
  CREATE TABLE classes (id INTEGER PRIMARY KEY, fields TEXT NOT NULL UNIQUE);

  -- id: that of the segment, then the index of the line in it.
  CREATE TABLE lines (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, class INTEGER NOT NULL, job TEXT,
    received INTEGER NOT NULL);
  CREATE INDEX lines_by_class ON lines (class, written);
  CREATE INDEX lines_by_job ON lines (job, class, received) WHERE job IS NOT NULL;
  -- hash: of name and value; text would take a third of the file.
  CREATE TABLE contexts (hash INTEGER NOT NULL, written INTEGER NOT NULL, line INTEGER NOT NULL,
    PRIMARY KEY (hash, written, line)) WITHOUT ROWID;

  -- The newest failing line of each job and class that no line of the job settles; first: receipt of the first line of the job.
  CREATE TABLE failures (job TEXT NOT NULL, class INTEGER NOT NULL, line INTEGER NOT NULL, received INTEGER NOT NULL,
    first INTEGER NOT NULL, reason TEXT, bytes INTEGER NOT NULL, PRIMARY KEY (job, class)) WITHOUT ROWID;
  CREATE INDEX failures_by_first ON failures (first, job);

  -- Sums by the time of writing. width: milliseconds of the stretch; longest: duration of a callback; latest: receipt of the last line.
  CREATE TABLE figures (width INTEGER NOT NULL, start INTEGER NOT NULL, class INTEGER NOT NULL, lines INTEGER NOT NULL,
    bytes INTEGER NOT NULL, longest REAL NOT NULL, latest INTEGER NOT NULL, PRIMARY KEY (width, start, class)) WITHOUT ROWID;
  -- Callbacks by the bucket of their duration.
  CREATE TABLE durations (width INTEGER NOT NULL, start INTEGER NOT NULL, class INTEGER NOT NULL, bucket INTEGER NOT NULL,
    lines INTEGER NOT NULL, PRIMARY KEY (width, start, class, bucket)) WITHOUT ROWID;
`;

/** Lines that a segment can have: its lines have ids from `segment * LINES` on. */
export const LINES = 2 ** 20;
