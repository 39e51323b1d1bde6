/** The CloudEvents 1.0 that subscribers receive, as `application/cloudevents+json` (docs/downstream.md). */
export interface CloudEvent<Type extends string, Data> {
  readonly specversion: '1.0';
  /** The same whenever the event is sent again: deduplicate by it. */
  readonly id: string;
  readonly type: Type;
  readonly source: string;
  readonly subject?: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Data;
}

/** Place of one item of a job in the store. The event never carries the item itself. */
export interface EventItem {
  /** What the item is, such as `transcript.json-v2` or `jobinfo`. An open set. */
  readonly kind: string;
  /** Key in the store, below its prefix. */
  readonly key: string;
  /** The whole address: `s3://bucket/prefix/key` or `file:///folder/key`. */
  readonly uri: string;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly outcome: 'created' | 'identical' | 'conflict';
}

/** Data of a ledger line: of a delivery, a recovery, an import or an erasure. */
export interface JobEventData {
  readonly jobId: string;
  readonly source: string | null;
  readonly region: string | null;
  /** Callback status of the speech service, such as `success` or `fetch_error`; null where there was no callback. */
  readonly status: string | null;
  /** Origin of the bytes: `callback`, `recovery`, `replay`, `import` or `realtime`. */
  readonly origin: string;
  /** Outcome of the ledger line, such as `stored`, `recovered`, `failed` or `erased`. An open set. */
  readonly outcome: string;
  /** The submitter's own parameters of the callback URL that the source admits. */
  readonly context: Readonly<Record<string, string>>;
  /** Who chose another version, by the name of the token, and why. Only with the outcome `chosen`. */
  readonly actor?: string;
  readonly reason?: string;
  readonly items: readonly EventItem[];
}

/** `id` is the delivery id of the ledger line, `source` `/callbacks/<source>`, `subject` the job id. */
export type JobEvent = CloudEvent<
  | 'transcript-receiver.job.stored.v1'
  | 'transcript-receiver.job.failed.v1'
  | 'transcript-receiver.job.erased.v1',
  JobEventData
>;

/** An issue of the receiver that concerns an operator. */
export interface HealthNotice {
  /** Stable name of the issue: its code, and what it concerns, such as `events-dead:crm`. An open set. */
  readonly issue: string;
  /** Such as `store`, `failures` or `subscribers`. An open set. */
  readonly topic: string;
  readonly level: 'unknown' | 'warning' | 'failing';
  /** What is wrong, for programs. An open set. */
  readonly code: string;
  /** Facts by the code: numbers, names and instants. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What is wrong, for people; may change while the issue stays the same. */
  readonly text: string;
  /** What to do, for people; null where nothing has to be done. */
  readonly remedy: string | null;
  /** ISO 8601: when the issue was first seen. */
  readonly since: string;
  /** Location of the store, which tells installations apart. */
  readonly store: string;
}

/** `source` is `/health`, `subject` the name of the issue. */
export type HealthOpenedEvent = CloudEvent<'transcript-receiver.health.opened.v1', HealthNotice>;
/** The issue is over. Its data is that of the opening. */
export type HealthClosedEvent = CloudEvent<'transcript-receiver.health.closed.v1', HealthNotice>;

/** Sent by `doctor`, and by an operator. Answer it with 2xx, and do nothing else. */
export type TestEvent = CloudEvent<'transcript-receiver.test.v1', { readonly text: string }>;

/** Every event that this version sends. A later version may send other types: answer those with 2xx and ignore them. */
export type ReceiverEvent = JobEvent | HealthOpenedEvent | HealthClosedEvent | TestEvent;
