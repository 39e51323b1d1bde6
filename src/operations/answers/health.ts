import { z } from 'zod';
import { STORE_CONDITIONS } from '../../store/store-remedies.js';
import { LEVELS } from '../issues/issues.js';
import { UNKNOWABLE, UNSEEN_NAMES } from '../issues/verdict-words.js';
import { indexExtentSchema } from './index-extent.js';
import { issueSchema } from './issue.js';
import { subscriberSchema } from './subscribers.js';
import { SUMMARY_FIGURES } from './summary.js';
import { type Answer, amount, count, countsByName, instant } from './values.js';

const verdictSchema = z
  .strictObject({
    level: z
      .enum(LEVELS)
      .describe(
        'the worst of the issues; failing: results are lost or cannot be received; unknown: no issue, but not everything could be checked',
      ),
    index: indexExtentSchema,
    unseen: z
      .array(z.enum(UNSEEN_NAMES))
      .describe("what was not looked at; deliveries: the index lacks some of the service's retention"),
    issues: z.array(issueSchema).describe('the worst first'),
  })
  .meta({ id: 'Verdict', description: 'The verdict of health; it never claims more than was checked' });

const reconcileFiguresSchema = z
  .strictObject({
    startedAt: instant,
    finishedAt: instant,
    outcomes: countsByName,
    expected: count.describe('jobs that should be here; those whose artefacts expired are in outcomes only'),
    received: count.describe('jobs that are here: matched, recovered, conflict'),
    missing: count.describe(
      'jobs that should be here and are not: unrecoverable, failed; a later run that found more of them counts',
    ),
    withoutFailure: count.describe('missing jobs without a failure in the ledger'),
    isWhole: z.boolean().describe('the figures are of a complete run; otherwise they are lower bounds'),
    ignored: count.describe('jobs of the account whose callback URLs lead to no source here'),
    faults: z
      .array(z.string())
      .describe(
        'what kept the last run of full scope from seeing everything; an interrupted run counts while no earlier run was complete',
      ),
  })
  .meta({
    id: 'ReconcileFigures',
    description: 'The last complete reconcile run; before the first complete one, the last run',
  });

export type ReconcileFigures = Answer<typeof reconcileFiguresSchema>;

const verifyFiguresSchema = z
  .strictObject({
    startedAt: instant,
    finishedAt: instant,
    window: z
      .strictObject({ since: instant, until: instant })
      .describe('of the ledger lines that were checked'),
    deep: z.boolean().describe('the bytes were read and hashed'),
    complete: z.boolean().describe('the run checked everything in its window'),
    checked: count.describe('artefacts'),
    bytes: count.describe('size of the intact artefacts'),
    missing: count.describe(
      'artefacts that runs of the last 35 days did not find, unless a later complete run looked at them again',
    ),
    damaged: count.describe('the same for artefacts that are not as recorded'),
    refetch: z
      .array(z.string())
      .describe('jobs with missing artefacts that the service may still have, at most 100'),
    faults: z.array(z.string()).describe('why the last run was incomplete'),
  })
  .meta({
    id: 'VerifyFigures',
    description: 'The last complete verify run; before the first complete one, the last run',
  });

export type VerifyFigures = Answer<typeof verifyFiguresSchema>;

const credentialStateSchema = z
  .strictObject({
    source: z.string(),
    credential: z.string(),
    state: z
      .enum(['in-use', 'unused', 'unknown', 'not-yet-valid', 'expiring', 'expired'])
      .describe('unknown: no use is known, and the ledger could not be read'),
    lastUsedAt: instant.nullable().describe('within the last 7 days; null when it was not used'),
    notBefore: instant.nullable(),
    expires: instant.nullable(),
  })
  .meta({ id: 'CredentialState' });

export type CredentialState = Answer<typeof credentialStateSchema>;

const conditionSchema = z.enum(STORE_CONDITIONS);

export const namesSchema = z
  .strictObject({
    sources: z.array(z.string()),
    regions: z.array(z.string()),
    statuses: z.array(z.string()),
    outcomes: z.array(z.string()),
    origins: z.array(z.string()),
    contexts: z.array(z.string()).describe('names of the context that sources admit'),
    subscribers: z.array(z.string()),
  })
  .meta({ id: 'Names' });
export type Names = Answer<typeof namesSchema>;

const callbacksSchema = z
  .strictObject({
    since: instant.describe('begin of the counted period: an hour ago, or later if the index begins later'),
    accepted: count,
    rejected: count.describe(
      'jobs whose callback was rejected, and unauthenticated requests that are most likely the service’s',
    ),
    lastAcceptedAt: instant.nullable().describe('of the last day'),
    missed: z
      .strictObject({
        since: instant,
        jobs: count.describe('all jobs of that period'),
        missed: count.describe('those whose results recovery had to fetch'),
      })
      .describe('of the last day, or less where the index reaches back less'),
  })
  .meta({ id: 'Callbacks', description: 'How the callbacks of the last hour and day fared' });

const unknownSchema = z.strictObject({
  reason: z.string(),
  since: instant
    .nullable()
    .describe('when the ledger was last read; null while it is still being read, and if it never was'),
});

export const healthSchema = z
  .strictObject({
    verdict: verdictSchema,
    version: z.string(),
    replica: z.string(),
    at: instant,
    ready: z.boolean(),
    draining: z.boolean(),
    store: z.strictObject({
      location: z.string(),
      writable: z.boolean(),
      reason: z.string().nullable(),
      condition: conditionSchema
        .nullable()
        .describe('condition of the whole store, where the reason shows one'),
      latencyMs: amount.nullable(),
      lastSuccessAt: instant.nullable(),
    }),
    scope: z
      .strictObject({ sources: z.array(z.string()) })
      .nullable()
      .describe('for a token that may see some sources only: members that cover all are null or empty'),
    budget: z
      .strictObject({ total: count, used: count, waiters: count })
      .nullable()
      .describe('memory for bodies, in bytes'),
    activeDeliveries: count.nullable(),
    regions: z.array(z.strictObject({ region: z.string(), lastDeliveryAt: instant.nullable() })),
    noRegion: z
      .strictObject({ lastDeliveryAt: instant.nullable() })
      .nullable()
      .describe('callbacks from addresses that belong to no region'),
    callbackAddress: z
      .strictObject({ url: z.string().nullable(), port: count.nullable() })
      .describe('receiver.publicUrl, and the port that this replica listens on'),
    sources: z.array(
      z.strictObject({
        source: z.string(),
        headers: z.array(z.string()).describe('names of the headers that its first valid credential needs'),
      }),
    ),
    unknown: z
      .partialRecord(z.enum(UNKNOWABLE), unknownSchema)
      .describe('members that could not be read, and why: there null means unknown, not none'),
    last24h: z.strictObject({ since: instant, until: instant, ...SUMMARY_FIGURES }).nullable(),
    callbacks: callbacksSchema.nullable(),
    failing: countsByName
      .nullable()
      .describe(
        'jobs whose last ledger line is a failure, by outcome, without rejected callbacks that the service still tries; those that the index has',
      ),
    quarantine: z
      .strictObject({ waiting: count, waitingBytes: count, released: count, settled: count })
      .nullable(),
    service: z.strictObject({
      configured: z.boolean().describe("an API key and at least one region's address are configured"),
      interval: count
        .nullable()
        .describe('milliseconds between runs of reconcile in this process; null when it does not run here'),
    }),
    reconcile: reconcileFiguresSchema.nullable(),
    verify: verifyFiguresSchema.nullable(),
    credentials: z.array(credentialStateSchema),
    subscribers: z.array(subscriberSchema).nullable(),
    index: indexExtentSchema,
    ledger: z.strictObject({
      state: z.enum(['loading', 'ready']),
      rows: count.nullable(),
      place: z
        .strictObject({
          path: z.string().nullable().describe('null: in memory'),
          cause: z
            .enum(['no-folder', 'in-use', 'unwritable'])
            .nullable()
            .describe('why it is in memory; null when it is not'),
        })
        .nullable()
        .describe('where the index is; null before it was opened'),
      refreshedAt: instant.nullable(),
      error: z.string().nullable(),
      fault: z
        .enum(['store', 'index'])
        .nullable()
        .describe('what failed: a call of the store, or of the index, such as on a full disk'),
      condition: conditionSchema
        .nullable()
        .describe('condition of the whole store, where the error shows one'),
    }),
  })
  .meta({ id: 'Health' });
export type Health = Answer<typeof healthSchema>;
