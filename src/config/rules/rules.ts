import { isAbsolute, relative, resolve, sep } from 'node:path';
import { RETENTION_CLASSES } from '../../domain/kinds.js';
import { isRegionName } from '../../domain/region.js';
import { parseHeaderLine, secretPart } from '../../lib/text/header-line.js';
import { parseRange } from '../../lib/text/ip-address.js';
import { readStoreLocation } from '../../lib/text/store-location.js';
import type { SettingPath } from '../config-error.js';
import type { Settings } from '../schema.js';
import { formatDuration, formatSize } from '../units.js';
import { scopeRules, tokenRules } from './admin-rules.js';
import type { BrokenRule, RuleContext } from './broken-rule.js';
import { contextRules } from './context-rules.js';
import { repeated } from './repeated.js';
import { subscriberRules } from './subscriber-rules.js';

/** S3 takes at most 10,000 parts per upload, each of at least 5 MiB but the last. */
const S3_MAX_PARTS = 10_000;
const S3_MIN_PART = 5 * 2 ** 20;

/** In characters. Below 16 characters `warnings.ts` warns. */
const SHORTEST_SECRET = 8;

/** All rules across settings that `settings` breaks. */
export function brokenRules(settings: Settings, context: RuleContext): BrokenRule[] {
  return [
    ...portRules(settings),
    ...tokenRules(settings),
    ...scopeRules(settings),
    ...storeRules(settings),
    ...indexRules(settings),
    ...limitRules(settings),
    ...speechRules(settings),
    ...regionRules(settings),
    ...retentionRules(settings),
    ...sourceRules(settings),
    ...subscriberRules(settings),
    ...(context.production ? productionRules(settings) : []),
  ];
}

function* portRules({ receiver, admin }: Settings): Generator<BrokenRule> {
  if (admin.port !== 0 && admin.port === receiver.port) {
    yield {
      path: ['admin', 'port'],
      expected: 'another port than receiver.port',
      also: [['receiver', 'port']],
    };
  }
}

function* storeRules({ store, sources }: Settings): Generator<BrokenRule> {
  const { s3, partSize } = store;
  if ((s3.accessKeyId === null) !== (s3.secretAccessKey === null)) {
    const missing = s3.accessKeyId === null ? 'accessKeyId' : 'secretAccessKey';
    yield { path: ['store', 's3', missing], expected: 'to be set: the access key has two halves' };
  }
  if (s3.kmsKeyId !== null && s3.sse !== 'kms') {
    yield {
      path: ['store', 's3', 'kmsKeyId'],
      expected: 'store.s3.sse to be kms',
      also: [['store', 's3', 'sse']],
    };
  }
  if ((s3.lock.mode === 'none') !== (s3.lock.days === null)) {
    const [missing, other] =
      s3.lock.days === null ? (['days', 'mode'] as const) : (['mode', 'days'] as const);
    yield {
      path: ['store', 's3', 'lock', missing],
      expected: 'to be set: a lock has a mode and a number of days',
      also: [['store', 's3', 'lock', other]],
    };
  }
  if (!store.url.startsWith('s3:')) return;
  if (partSize < S3_MIN_PART) {
    yield { path: ['store', 'partSize'], expected: 'at least 5MiB on S3', also: [['store', 'url']] };
    return;
  }
  for (const [name, source] of Object.entries(sources)) {
    if (source.maxBytes <= partSize * S3_MAX_PARTS) continue;
    yield {
      path: ['sources', name, 'maxBytes'],
      expected: `at most ${formatSize(partSize * S3_MAX_PARTS)}, 10,000 parts of store.partSize`,
      also: [
        ['store', 'partSize'],
        ['store', 'url'],
      ],
    };
  }
}

function* indexRules({ store, ledger }: Settings): Generator<BrokenRule> {
  const { path } = ledger.index;
  const location = readStoreLocation(store.url);
  if (path === null || !('directory' in location)) return;
  const way = relative(location.directory, resolve(path));
  if (way.split(sep)[0] === '..' || isAbsolute(way)) return;
  yield { path: ['ledger', 'index', 'path'], expected: "a path outside of the store's folder" };
}

function* limitRules({ limits, store }: Settings): Generator<BrokenRule> {
  if (limits.memoryBudget < 3 * store.partSize) {
    yield {
      path: ['limits', 'memoryBudget'],
      expected: `at least ${formatSize(3 * store.partSize)}, three parts of store.partSize`,
      also: [['store', 'partSize']],
    };
  }
  if (limits.quarantineBytes > limits.memoryBudget) {
    yield {
      path: ['limits', 'quarantineBytes'],
      expected: 'at most limits.memoryBudget',
      also: [['limits', 'memoryBudget']],
    };
  }
}

function* speechRules({ speech, recovery }: Settings): Generator<BrokenRule> {
  if (recovery.grace >= recovery.window) {
    yield {
      path: ['recovery', 'grace'],
      expected: 'less than recovery.window',
      also: [['recovery', 'window']],
    };
  }
  if (speech.auth === 'temporaryKey' && speech.keysUrl === null) {
    yield {
      path: ['speech', 'keysUrl'],
      expected: 'an address, because speech.auth is temporaryKey',
      also: [['speech', 'auth']],
    };
  }
}

/**
 * A region is an entry of `egress.regions`: other names are misspelt. Addresses in `allow` are checked here and not by the
 * schema, because a list with an entry that fails the schema is not seen by any rule.
 */
function* regionRules({ egress, speech, sources }: Settings): Generator<BrokenRule> {
  const regions = Object.keys(egress.regions);
  const known = `a region of egress.regions (${regions.join(', ')})`;
  for (const name of Object.keys(speech.regions)) {
    if (!regions.includes(name)) yield { path: ['speech', 'regions', name], expected: known };
  }
  for (const [source, { allow }] of Object.entries(sources)) {
    for (const [index, entry] of allow.entries()) {
      const range = parseRange(entry);
      if (entry === 'any' || regions.includes(entry) || !('fault' in range)) continue;
      const why = isRegionName(entry) ? '' : ` (${range.fault})`;
      yield {
        path: ['sources', source, 'allow', index],
        expected: `${known}, an address, a CIDR or any${why}`,
      };
    }
  }
}

/** An object that expires while the service still has its job would look missing to recovery. */
function* retentionRules({ retention, speech, recovery }: Settings): Generator<BrokenRule> {
  const isService = speech.retention >= recovery.window;
  const shortest = isService ? speech.retention : recovery.window;
  const name = isService ? 'speech.retention' : 'recovery.window';
  for (const kind of RETENTION_CLASSES) {
    const period = retention[kind];
    if (period === null || period >= shortest) continue;
    yield {
      path: ['retention', kind],
      expected: `at least ${formatDuration(shortest)}, ${name}: until then recovery looks at the job`,
      also: [isService ? ['speech', 'retention'] : ['recovery', 'window']],
    };
  }
}

/** An example that an operator can copy into a source. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of a reference to a secret
const EXAMPLE = 'main: { headers: ["X-Callback-Token: ${file:/run/secrets/callback-token}"] }';

/** Requires credentials: otherwise anyone who can reach the port could write into the archive, and the first write wins. */
function* productionRules({ sources }: Settings): Generator<BrokenRule> {
  for (const [name, source] of Object.entries(sources)) {
    if (source.allowUnauthenticated || Object.keys(source.credentials).length > 0) continue;
    yield {
      path: ['sources', name, 'credentials'],
      expected: `a credential such as ${EXAMPLE}; or allowUnauthenticated: true on the source, if every address that its allowlist admits may write`,
    };
  }
}

function* sourceRules({ sources }: Settings): Generator<BrokenRule> {
  if (Object.keys(sources).length === 0) {
    yield {
      path: ['sources'],
      expected: `at least one source, such as intake: { allow: [eu1], credentials: { ${EXAMPLE} } }`,
    };
  }
  for (const [name, source] of Object.entries(sources)) {
    for (const [credentialName, credential] of Object.entries(source.credentials)) {
      yield* credentialRules(credential, ['sources', name, 'credentials', credentialName]);
    }
    for (const [first, second] of repeated(Object.entries(source.credentials), ([, credential]) =>
      fingerprint(credential),
    )) {
      yield {
        path: ['sources', name, 'credentials', second[0]],
        expected: `other header lines than the credential ${first[0]} has`,
      };
    }
    for (const [, second] of repeated([...source.contents.entries()], ([, content]) => content)) {
      yield { path: ['sources', name, 'contents', second[0]], expected: 'each content once' };
    }
    yield* contextRules(name, source.context);
  }
}

type Credential = Settings['sources'][string]['credentials'][string];

function* credentialRules(credential: Credential, path: SettingPath): Generator<BrokenRule> {
  const lines = headerLines(credential);
  for (const [, second] of repeated([...lines.entries()], ([, line]) => line.name)) {
    yield { path: [...path, 'headers', second[0]], expected: `the header ${second[1].name} only once` };
  }
  if (lines.length > 0 && !lines.some((line) => secretPart(line).length >= SHORTEST_SECRET)) {
    yield { path: [...path, 'headers'], expected: `a secret of at least ${SHORTEST_SECRET} characters` };
  }
  if (
    credential.notBefore !== null &&
    credential.expires !== null &&
    credential.expires <= credential.notBefore
  ) {
    yield { path: [...path, 'expires'], expected: 'a time after notBefore', also: [[...path, 'notBefore']] };
  }
}

function headerLines(credential: Credential) {
  return credential.headers.flatMap((line) => {
    const parsed = parseHeaderLine(line);
    return 'fault' in parsed ? [] : [parsed];
  });
}

function fingerprint(credential: Credential): string {
  return headerLines(credential)
    .map((line) => `${line.name}: ${line.value}`)
    .sort()
    .join('\n');
}
