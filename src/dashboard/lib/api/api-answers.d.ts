/** What the admin API answers (docs/admin-api.md), as far as the page reads it. Instants are ISO 8601. */

type Instant = string;
type Counts = Readonly<Record<string, number>>;

/** Answers of GET by path. */
export interface GetAnswers {
  '/health': Health;
  '/names': Names;
  '/summary': Summary;
  '/deliveries': { deliveries: LedgerLine[]; nextCursor: string | null };
  '/failures': Failures;
  '/refusals': { refusals: Refusal[]; nextCursor: string | null };
  '/quarantine': { quarantine: QuarantinedBody[]; nextCursor: string | null };
  '/replays': { replays: Replay[]; nextCursor: string | null };
  [job: `/jobs/${string}`]: Job;
  [body: `/quarantine/${string}`]: QuarantinedBodyView;
  [replay: `/replays/${string}`]: ReplayInFull;
}

/** Answers of POST by path. */
export interface PostAnswers {
  '/explain': Explanation;
  /** The preview for `dryRun`. */
  '/replays': ReplayPreview | ReplayStarted;
  [ticket: `/jobs/${string}/ticket`]: Ticket;
  [acknowledge: `/jobs/${string}/acknowledge`]: LedgerLine;
  [refetch: `/jobs/${string}/refetch`]: Refetched;
  [upload: `/jobs/${string}/artefacts`]: Taken;
  [release: `/quarantine/${string}/release`]: Taken;
}

/** Answers of DELETE by path. */
export interface DeleteAnswers {
  [job: `/jobs/${string}`]: Erased;
  [replay: `/replays/${string}`]: Replay;
}

export interface Health {
  verdict: Verdict;
  version: string;
  replica: string;
  at: Instant;
  ready: boolean;
  draining: boolean;
  store: {
    location: string;
    writable: boolean;
    reason: string | null;
    latencyMs: number | null;
    lastSuccessAt: Instant | null;
  };
  budget: { total: number; used: number; waiters: number };
  activeDeliveries: number;
  regions: { region: string; lastDeliveryAt: Instant | null }[];
  sources: { source: string; lastDeliveryAt: Instant | null }[];
  last24h: Figures & { since: Instant; until: Instant };
  quarantine: { waiting: number; waitingBytes: number; released: number } | null;
  failing: Counts;
  reconcile: ReconcileFigures | null;
  credentials: CredentialNotice[];
  ledger: {
    state: 'loading' | 'ready';
    rows: number;
    broken: { count: number };
    refreshedAt: Instant | null;
    error: string | null;
  };
}

export interface Verdict {
  level: 'ok' | 'warning' | 'failing';
  headline: string;
  sentence: string;
  troubles: { level: 'warning' | 'failing'; text: string; topic: string }[];
  since: Instant | null;
  unseen: string[];
}

export interface ReconcileFigures {
  finishedAt: Instant | null;
  outcomes: Counts;
  expected: number;
  received: number;
  missing: number;
  faults: string[];
}

export interface CredentialNotice {
  source: string;
  credential: string;
  state: 'in-use' | 'unused' | 'not-yet-valid' | 'expiring' | 'expired';
  lastUsedAt: Instant | null;
  expires: Instant | null;
}

export interface Names {
  sources: string[];
  regions: string[];
  statuses: string[];
}

export interface Figures {
  lines: number;
  bytes: number;
  outcomes: Counts;
  regions: Counts;
  /** Milliseconds; null without callbacks. */
  duration: { p50: number; p95: number; p99: number; max: number } | null;
}

export type Bucket = Figures & { start: Instant };

export interface Summary {
  total: Figures;
  /** Oldest first, empty ones included. */
  buckets: Bucket[];
}

export interface LedgerLine {
  deliveryId: string;
  receivedAt: Instant;
  origin: string;
  source: string | null;
  region: string | null;
  clientIp: string | null;
  method: string | null;
  jobId: string | null;
  status: string | null;
  credential: string | null;
  outcome: string;
  reason: string | null;
  items: StoredItem[];
  bytes: number;
  durationMs: number;
  shape: WireShape | null;
  actor?: string;
  wouldRefuse?: string;
}

export interface StoredItem {
  kind: string;
  key: string;
  size: number;
  sha256: string;
  outcome: string;
}

export interface WireShape {
  contentType: string | null;
  contentEncoding?: string;
  framing: string;
  parts?: { name: string | null; contentType?: string; bytes: number }[];
}

export type FailureLine = LedgerLine & { jobId: string; retentionEndsAt: Instant };

export interface Failures {
  failures: FailureLine[];
  /** By outcome, of all that match. */
  counts: Counts;
  nextCursor: string | null;
}

export interface Refusal {
  at: Instant;
  source: string | null;
  clientIp: string | null;
  reason: string;
  userAgent: string | null;
  /** The other end of the connection. */
  peer: string | null;
  forwardedFor: string | null;
  authenticated: boolean;
  jobId: string | null;
  deliveryId: string | null;
}

export interface Job {
  jobId: string;
  artefacts: Artefact[];
  /** Oldest first. */
  timeline: LedgerLine[];
  service: ServiceRecord | null;
}

export interface ServiceRecord {
  region: string;
  /** As the service gives it. */
  record: Readonly<Record<string, unknown>>;
}

export interface Artefact {
  key: string;
  kind: string;
  size: number;
  sha256: string | null;
  contentType: string;
  origin: string | null;
  storedAt: Instant;
}

export interface Ticket {
  ticket: string;
  expires: Instant;
}

/** What came of an import or a release. */
export interface Taken {
  outcome: string;
  items: StoredItem[];
}

export interface Refetched {
  outcome: string;
  reason: string | null;
}

export interface Erased {
  erased: { artefacts: number; conflicts: number; quarantined: number; bytes: number };
}

export interface QuarantinedBody {
  deliveryId: string;
  receivedAt: Instant;
  source: string;
  region: string | null;
  clientIp: string | null;
  method: string;
  jobId: string;
  status: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  reason: string;
  detail: string;
  bytes: number;
  sha256: string;
  state: 'waiting' | 'released';
  release: Release | null;
}

export interface QuarantinedBodyView extends QuarantinedBody {
  preview: { text: string; truncated: boolean; binary: boolean };
  decodes: Trial;
}

/** Whether today's decoder takes a body. */
export type Trial = { ok: true; items: string[] } | { ok: false; reason: string; detail: string };

export interface Release {
  releasedAt: Instant;
  actor: string;
  reason: string | null;
}

export interface ReplaySelector {
  kind: string;
  jobs?: string[];
  failedOf?: string;
  since?: Instant;
  until?: Instant;
  source?: string;
  region?: string;
  status?: string;
  outcome?: string;
}

export interface ReplayPreview {
  count: number;
  bytes: number;
  /** The first of them. */
  jobs: string[];
}

export interface ReplayStarted {
  replayId: string;
}

export interface Replay {
  replayId: string;
  state: string;
  total: number;
  done: number;
  failed: number;
  outcomes: Counts;
  createdAt: Instant;
  finishedAt: Instant | null;
  actor: string;
  reason: string | null;
  selector: ReplaySelector;
  waitingFor: string | null;
}

export interface ReplayInFull extends Replay {
  /** The first of them. */
  failures: { item: string; jobId: string; outcome: string; reason: string | null }[];
}

export interface Explanation {
  decision: 'accept' | 'refuse';
  status: number;
  reason: string;
  clientIp: string | null;
  region: string | null;
  rule: string | null;
  credential: string | null;
  gates: Gate[];
}

export interface Gate {
  gate: string;
  passed: boolean;
  detail: string;
  toPass: string | null;
}
