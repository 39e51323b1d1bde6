/** JSON Schemas (2020-12) of what the admin API takes and gives, for its OpenAPI description. */

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const amount = { type: 'number', minimum: 0 } as const;
const instant = { type: 'string', format: 'date-time' } as const;
const anything = { type: 'object' } as const;
const ulid = { type: 'string', pattern: '^[0-9A-HJKMNP-TV-Z]{26}$' } as const;

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

function nullable(schema: Schema): Schema {
  const { type } = schema;
  return typeof type === 'string' && !('enum' in schema)
    ? { ...schema, type: [type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] };
}

const list = (items: Schema): Schema => ({ type: 'array', items });
const counts: Schema = { type: 'object', additionalProperties: count };

/** An object whose members are all there unless named in `optional`, and no others. */
function closed(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties, additionalProperties: false };
}

/** The same, but others may come: what lies in the store can be of another version. */
function open(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  return { ...closed(properties, optional), additionalProperties: true };
}

const page = (name: string, of: string): Schema =>
  closed({ [name]: list(ref(of)), nextCursor: nullable(text) });

const DURATION = closed({ p50: amount, p95: amount, p99: amount, max: amount });
const FIGURES = {
  lines: count,
  bytes: count,
  outcomes: counts,
  regions: counts,
  duration: nullable(DURATION),
};
const STATE = { type: 'string', enum: ['running', 'done', 'cancelled', 'interrupted'] };

const QUARANTINED = {
  v: count,
  deliveryId: ulid,
  receivedAt: instant,
  source: text,
  region: nullable(text),
  clientIp: nullable(text),
  method: text,
  jobId: text,
  status: text,
  query: text,
  headers: { type: 'object', additionalProperties: text },
  reason: text,
  detail: text,
  bytes: count,
  sha256: text,
  state: { type: 'string', enum: ['waiting', 'released'] },
  release: nullable(ref('Release')),
};

const LEVEL = { type: 'string', enum: ['ok', 'warning', 'failing'] };

const HEALTH = {
  status: LEVEL,
  problems: list(text),
  verdict: ref('Verdict'),
  version: text,
  replica: text,
  at: instant,
  ready: flag,
  readyReason: nullable(text),
  draining: flag,
  store: closed({
    location: text,
    writable: flag,
    reason: nullable(text),
    latencyMs: nullable(amount),
    lastSuccessAt: nullable(instant),
  }),
  budget: closed({ total: count, used: count, waiters: count }),
  activeDeliveries: count,
  regions: list(closed({ region: text, lastDeliveryAt: nullable(instant) })),
  sources: list(closed({ source: text, lastDeliveryAt: nullable(instant) })),
  last24h: closed({ since: instant, until: instant, ...FIGURES }),
  quarantine: nullable(closed({ waiting: count, waitingBytes: count, released: count })),
  failing: counts,
  service: closed({ configured: flag, interval: nullable(count) }),
  reconcile: nullable(ref('ReconcileFigures')),
  credentials: list(ref('CredentialNotice')),
  ledger: closed({
    state: { type: 'string', enum: ['loading', 'ready'] },
    completeSince: nullable(instant),
    rows: count,
    broken: closed({ count, segments: list(closed({ key: text, lines: count })) }),
    refreshedAt: nullable(instant),
    error: nullable(text),
  }),
};

const REPLAY = {
  replayId: ulid,
  state: STATE,
  total: count,
  done: count,
  failed: count,
  outcomes: counts,
  bytes: count,
  createdAt: instant,
  finishedAt: nullable(instant),
  actor: text,
  reason: nullable(text),
  selector: ref('ReplaySelector'),
  owner: text,
  waitingFor: nullable(text),
};

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Problem: open({ type: text, title: text, status: count, code: text, detail: text }),
  Health: closed(HEALTH),
  Verdict: closed({
    level: LEVEL,
    headline: text,
    sentence: text,
    troubles: list(closed({ level: LEVEL, text, topic: text })),
    since: nullable(instant),
    unseen: list(text),
  }),
  ReconcileFigures: closed({
    startedAt: nullable(instant),
    finishedAt: nullable(instant),
    window: {},
    outcomes: counts,
    expected: count,
    received: count,
    missing: count,
    faults: list(text),
  }),
  CredentialNotice: closed({
    source: text,
    credential: text,
    state: { type: 'string', enum: ['in-use', 'unused', 'not-yet-valid', 'expiring', 'expired'] },
    lastUsedAt: nullable(instant),
    notBefore: nullable(instant),
    expires: nullable(instant),
    advice: nullable(text),
  }),
  Summary: closed({
    since: instant,
    until: instant,
    total: closed(FIGURES),
    buckets: list(closed({ start: instant, ...FIGURES })),
    lastByRegion: { type: 'object', additionalProperties: instant },
    lastBySource: { type: 'object', additionalProperties: instant },
    lastByCredential: { type: 'object', additionalProperties: instant },
  }),
  LedgerLine: open(
    {
      v: count,
      deliveryId: text,
      receivedAt: instant,
      origin: text,
      source: nullable(text),
      region: nullable(text),
      clientIp: nullable(text),
      method: nullable(text),
      jobId: nullable(text),
      status: nullable(text),
      credential: nullable(text),
      outcome: text,
      reason: nullable(text),
      items: list(ref('StoredItem')),
      bytes: amount,
      durationMs: amount,
      shape: nullable(anything),
      actor: text,
      wouldRefuse: text,
    },
    ['v', 'actor', 'wouldRefuse'],
  ),
  FailureLine: open({ deliveryId: text, jobId: text, outcome: text, retentionEndsAt: instant }),
  Names: closed({
    sources: list(text),
    regions: list(text),
    statuses: list(text),
    outcomes: list(text),
    origins: list(text),
  }),
  Acknowledge: closed({ reason: text }),
  StoredItem: open({ kind: text, key: text, size: count, sha256: text, outcome: text }),
  Deliveries: page('deliveries', 'LedgerLine'),
  Failures: closed({
    failures: list(ref('FailureLine')),
    counts: { type: 'object', description: 'by outcome, of all that match', additionalProperties: count },
    nextCursor: nullable(text),
  }),
  Refusals: page('refusals', 'Refusal'),
  Refusal: closed({
    at: instant,
    source: nullable(text),
    clientIp: nullable(text),
    reason: text,
    userAgent: nullable(text),
    peer: nullable(text),
    forwardedFor: nullable(text),
    authenticated: flag,
    jobId: nullable(text),
    status: nullable(text),
    deliveryId: nullable(text),
  }),
  Job: closed({
    jobId: text,
    artefacts: list(ref('Artefact')),
    timeline: list(ref('LedgerLine')),
    service: nullable(closed({ region: text, record: anything })),
  }),
  Artefact: closed({
    key: text,
    kind: text,
    size: count,
    sha256: nullable(text),
    contentType: text,
    origin: nullable(text),
    storedAt: instant,
  }),
  Ticket: closed({ ticket: text, expires: instant }),
  Taken: closed({
    deliveryId: ulid,
    jobId: text,
    status: nullable(text),
    outcome: text,
    items: list(ref('StoredItem')),
  }),
  Refetched: closed({
    jobId: text,
    region: nullable(text),
    outcome: {
      type: 'string',
      enum: ['matched', 'recovered', 'conflict', 'pending', 'unrecoverable', 'failed'],
    },
    reason: nullable(text),
    items: list(closed({ kind: text, key: text, outcome: text })),
  }),
  Erased: closed({
    jobId: text,
    deliveryId: ulid,
    erased: closed({ artefacts: count, conflicts: count, quarantined: count, bytes: count }),
  }),
  Quarantine: page('quarantine', 'QuarantinedBody'),
  QuarantinedBody: open(QUARANTINED),
  QuarantinedBodyView: open({
    ...QUARANTINED,
    preview: closed({ text, truncated: flag, binary: flag }),
    decodes: {
      oneOf: [
        closed({ ok: { const: true }, items: list(text) }),
        closed({ ok: { const: false }, reason: text, detail: text }),
      ],
    },
  }),
  Release: open({
    deliveryId: ulid,
    releasedAt: instant,
    actor: text,
    reason: nullable(text),
    outcome: text,
    items: list(ref('StoredItem')),
  }),
  ReplaySelector: closed(
    {
      kind: { type: 'string', enum: ['refetch', 'release'] },
      jobs: list(text),
      failedOf: text,
      since: instant,
      until: instant,
      source: text,
      region: text,
      status: text,
      outcome: text,
    },
    ['jobs', 'failedOf', 'since', 'until', 'source', 'region', 'status', 'outcome'],
  ),
  ReplayOrder: closed({ selector: ref('ReplaySelector'), dryRun: flag, reason: text }, ['dryRun', 'reason']),
  ReplayPreview: closed({ count, bytes: count, jobs: list(text) }),
  ReplayStarted: closed({ replayId: ulid }),
  Replays: page('replays', 'Replay'),
  Replay: closed(REPLAY),
  ReplayInFull: closed({ ...REPLAY, failures: list(ref('ReplayFailure')) }),
  ReplayFailure: closed({ item: text, jobId: text, outcome: text, reason: nullable(text) }),
  ReplayFailures: page('failures', 'ReplayFailure'),
  ExplainRequest: closed(
    {
      source: text,
      address: text,
      headers: { type: 'object', additionalProperties: { anyOf: [text, list(text)] } },
    },
    ['source', 'headers'],
  ),
  Explanation: closed({
    decision: { type: 'string', enum: ['accept', 'refuse'] },
    status: count,
    reason: text,
    clientIp: nullable(text),
    region: nullable(text),
    rule: nullable(text),
    credential: nullable(text),
    gates: list(closed({ gate: text, passed: flag, detail: text, toPass: nullable(text) })),
  }),
  Reason: closed({ reason: text }, ['reason']),
  RefetchOrder: closed({ region: text, source: text, reason: text }, ['region', 'source', 'reason']),
  Nothing: closed({}),
};
