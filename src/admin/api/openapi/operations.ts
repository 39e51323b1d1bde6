import type { AdminRoute } from '../admin-route.js';

/** What the description says of one operation, in short hand. */
export interface OperationNotes {
  readonly summary: string;
  readonly tag: 'Health' | 'Deliveries' | 'Jobs' | 'Quarantine' | 'Replays' | 'Security' | 'Description';
  /** Query parameters by name, with their meaning; none is required. */
  readonly query?: Readonly<Record<string, string>>;
  /** Schema of the JSON body; `form` for the import. */
  readonly body?: string;
  /** Schema of the answer by status; `bytes` and `artefact` are downloads, null has no body. */
  readonly answers: Readonly<Record<number, string | null>>;
  /** Problems beside those every operation can answer with. */
  readonly problems?: readonly number[];
}

const PAGING = { limit: '1 to 500; default 50', cursor: '`nextCursor` of the page before' };
const RANGE = {
  since: 'ISO 8601 with a zone, or a date; received at or after it',
  until: 'the same; received before it',
};
const REASON = { reason: 'why, for the ledger; for clients that cannot send a body with DELETE' };

/** By `<method> <path>` of the route. */
export const OPERATIONS: Readonly<Record<`${AdminRoute['method']} ${string}`, OperationNotes>> = {
  'GET /health': { tag: 'Health', summary: 'Is all well?', answers: { 200: 'Health' } },
  'GET /summary': {
    tag: 'Health',
    summary: 'Figures over a stretch of time, for charts',
    query: {
      since: 'ISO 8601 with a zone, or a date; default: 24 hours before until',
      until: 'the same; default: now',
      buckets: 'equal stretches, 1 to 500; default 48',
    },
    answers: { 200: 'Summary' },
  },
  'GET /deliveries': {
    tag: 'Deliveries',
    summary: 'Ledger lines, newest first',
    query: {
      ...RANGE,
      job: 'job id',
      source: 'source',
      region: 'region of the speech service',
      status: 'callback status',
      outcome: 'outcome',
      origin: 'callback, recovery, replay, import or realtime',
      ...PAGING,
    },
    answers: { 200: 'Deliveries' },
  },
  'GET /names': {
    tag: 'Health',
    summary: 'Names that filters take: configured sources and regions, known statuses, outcomes and origins',
    answers: { 200: 'Names' },
  },
  'GET /failures': {
    tag: 'Deliveries',
    summary:
      'Jobs whose last word is a failure that nothing settled since; what the service drops first comes first',
    query: {
      outcome: 'failed, unrecoverable, refused or conflict',
      source: 'source',
      region: 'region of the speech service',
      since: 'failed at or after it',
      ...PAGING,
    },
    answers: { 200: 'Failures' },
  },
  'GET /refusals': {
    tag: 'Deliveries',
    summary: 'Refused requests, newest first: strangers this replica saw, and authenticated ones of all',
    query: PAGING,
    answers: { 200: 'Refusals' },
  },
  'GET /jobs/:id': {
    tag: 'Jobs',
    summary: "A job's artefacts, its timeline and the service's own record",
    answers: { 200: 'Job' },
    problems: [404],
  },
  'POST /jobs/:id/acknowledge': {
    tag: 'Jobs',
    summary: 'Settle a conflict or a loss: somebody has looked at it and decided',
    body: 'Acknowledge',
    answers: { 200: 'LedgerLine' },
    problems: [404],
  },
  'DELETE /jobs/:id': {
    tag: 'Jobs',
    summary: 'Erase artefacts, conflicts and quarantined bodies of a job',
    query: REASON,
    body: 'Reason',
    answers: { 200: 'Erased' },
    problems: [404],
  },
  'GET /jobs/:id/artefacts/*path': {
    tag: 'Jobs',
    summary: 'Download an artefact; ranges and If-None-Match are understood',
    query: { ticket: 'in place of the token, from POST /jobs/:id/ticket' },
    answers: { 200: 'artefact', 206: 'artefact', 304: null },
    problems: [404, 416],
  },
  'POST /jobs/:id/artefacts': {
    tag: 'Jobs',
    summary: 'Import files; nothing is kept unless the whole form is taken',
    body: 'form',
    answers: { 200: 'Taken' },
    problems: [404, 413],
  },
  'POST /jobs/:id/ticket': {
    tag: 'Jobs',
    summary: "A ticket that opens the job's artefacts for an hour, for links and players",
    body: 'Nothing',
    answers: { 200: 'Ticket' },
    problems: [404],
  },
  'POST /jobs/:id/refetch': {
    tag: 'Jobs',
    summary: 'Fetch what is missing of a job from the service',
    body: 'RefetchOrder',
    answers: { 200: 'Refetched' },
    problems: [404, 409, 502],
  },
  'GET /quarantine': {
    tag: 'Quarantine',
    summary: 'Undecodable bodies, newest first',
    query: {
      state: 'waiting (default), released or all',
      job: 'job id',
      source: 'source',
      region: 'region',
      reason: 'why it could not be decoded',
      ...PAGING,
    },
    answers: { 200: 'Quarantine' },
  },
  'GET /quarantine/:id': {
    tag: 'Quarantine',
    summary: "One body: its request, its beginning, and whether today's decoder takes it",
    answers: { 200: 'QuarantinedBodyView' },
    problems: [404],
  },
  'GET /quarantine/:id/body': {
    tag: 'Quarantine',
    summary: 'Download the raw body',
    answers: { 200: 'bytes' },
    problems: [404],
  },
  'POST /quarantine/:id/release': {
    tag: 'Quarantine',
    summary: "Run a body through today's decoder and configuration into the archive",
    body: 'Reason',
    answers: { 200: 'Taken' },
    problems: [404, 409],
  },
  'POST /replays': {
    tag: 'Replays',
    summary: 'Preview a replay, or start it',
    body: 'ReplayOrder',
    answers: { 200: 'ReplayPreview', 202: 'ReplayStarted' },
    problems: [409],
  },
  'GET /replays': {
    tag: 'Replays',
    summary: 'Replays, newest first',
    query: PAGING,
    answers: { 200: 'Replays' },
  },
  'GET /replays/:id': {
    tag: 'Replays',
    summary: 'How far a replay got, and the first items that failed',
    answers: { 200: 'ReplayInFull' },
    problems: [404],
  },
  'GET /replays/:id/failures': {
    tag: 'Replays',
    summary: 'Every item that failed, and why',
    query: PAGING,
    answers: { 200: 'ReplayFailures' },
    problems: [404],
  },
  'DELETE /replays/:id': {
    tag: 'Replays',
    summary: 'Cancel a replay; what is done stays done',
    query: REASON,
    body: 'Reason',
    answers: { 200: 'Replay' },
    problems: [404, 409],
  },
  'POST /explain': {
    tag: 'Security',
    summary: 'What would happen to a callback, and why',
    body: 'ExplainRequest',
    answers: { 200: 'Explanation' },
  },
  'GET /openapi.json': {
    tag: 'Description',
    summary: 'This description',
    answers: { 200: null },
  },
};
