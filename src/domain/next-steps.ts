import { isJobId } from './job.js';
import { remedyFor } from './reasons.js';

/** Shown once per page in place of the actions that need the service. */
export const NOTHING_CAN_BE_REFETCHED =
  'Nothing can be refetched: set speech.apiKey and speech.regions.<region>.batchUrl, and restart.';

/** One thing that can be done about a job: in words, and as one command. */
export interface NextStep {
  readonly action:
    | 'search'
    | 'refetch'
    | 'reconcile'
    | 'import'
    | 'restore'
    | 'choose'
    | 'acknowledge'
    | 'release'
    | 'dismiss'
    | 'erase'
    | 'doctor';
  readonly words: string;
  readonly command: string;
}

/** What the steps depend on. */
interface JobToMend {
  readonly jobId: string;
  readonly artefacts: readonly Version[];
  readonly timeline: readonly TimelineItems[];
  readonly failure: { readonly outcome: string; readonly reason: string | null } | null;
  readonly service: { readonly record: Readonly<Record<string, unknown>> } | null;
  readonly serviceAnswer: string;
}

interface Version {
  readonly key: string;
  readonly sha256: string | null;
  /** SHA-256 of the bytes before an operator chose this version; null where nobody did. */
  readonly replaced: string | null;
}

interface TimelineItems {
  readonly items: readonly { readonly key: string; readonly outcome: string }[];
}

type Situation =
  | 'choose'
  | 'refetch'
  | 'import'
  | 'acknowledge'
  | 'erase'
  | 'quarantine'
  | 'record'
  | 'lost'
  | 'restore'
  | 'find'
  | 'unknown'
  | null;

/**
 * The steps of a situation, the recommended one first; without those that the service is asked for when it cannot be, or has nothing.
 *
 * @param bodies those of the job in quarantine, newest first
 */
export function nextSteps(
  job: JobToMend,
  situation: Situation,
  bodies: readonly { readonly deliveryId: string; readonly state: string }[],
): NextStep[] {
  const steps = stepsOf(job, situation, bodies);
  if (!mayHaveResults(job)) return steps.filter(({ action }) => action !== 'refetch');
  if (job.serviceAnswer !== 'not-configured') return steps;
  return steps.filter(({ action }) => action !== 'refetch' && action !== 'reconcile');
}

/** Unless the service has said that it does not know the job, or does not keep it any more. */
export function mayHaveResults({
  serviceAnswer,
  service,
}: Pick<JobToMend, 'serviceAnswer' | 'service'>): boolean {
  const status = service?.record.status;
  return serviceAnswer !== 'unknown' && status !== 'deleted' && status !== 'expired';
}

function stepsOf(job: JobToMend, situation: Situation, bodies: Parameters<typeof nextSteps>[2]): NextStep[] {
  const { jobId, failure } = job;
  const refetch = step('refetch', refetchWords(failure), `refetch ${jobId}`);
  const importing = step(
    'import',
    'If you have the results elsewhere, import the files.',
    `import ${jobId} <file>`,
  );
  const acknowledge = step(
    'acknowledge',
    'Or accept the job as it is, with a reason.',
    `acknowledge ${jobId} --reason <words>`,
  );
  switch (situation) {
    case 'choose':
      return otherVersions(job.artefacts).length === 0 ? [acknowledge] : chooseSteps(job);
    case 'refetch':
      return failure === null ? [refetch, importing] : [refetch, importing, acknowledge];
    case 'import':
      return [importing, acknowledge];
    case 'record':
      return [
        step('refetch', 'Record that it failed, so that subscribers are notified.', `refetch ${jobId}`),
      ];
    case 'lost':
      return [
        step('refetch', 'Fetch it again while the service keeps it.', `refetch ${jobId}`),
        ...restoreSteps(jobId, importing),
        acknowledge,
      ];
    case 'restore':
      return [...restoreSteps(jobId, importing), acknowledge];
    case 'acknowledge':
      return [acknowledge];
    case 'erase':
      return [step('erase', 'Erase the job again then.', `erase ${jobId}`)];
    case 'quarantine':
      return [
        refetch,
        step(
          'release',
          'After an upgrade of the receiver, try to decode the body again.',
          `replay release --job ${jobId}`,
        ),
        ...dismissSteps(bodies),
      ];
    case 'find':
      return [refetch, ...findSteps(), importing];
    case 'unknown':
      return [
        step(
          'search',
          'The id may be mistyped: search for a part of it, or for a value of its context.',
          'job <part>',
        ),
        ...findSteps(),
        ...(isJobId(jobId) ? [importing] : []),
      ];
    case null:
      return [];
  }
}

function restoreSteps(jobId: string, importing: NextStep): NextStep[] {
  return [
    step(
      'restore',
      'If the bucket keeps versions, remove the delete markers; from a backup, restore the objects with their metadata. Then look again.',
      `job ${jobId}`,
    ),
    importing,
  ];
}

function findSteps(): NextStep[] {
  return [
    step(
      'reconcile',
      'If it is your own reference and not the id of a job, its callback may be lost: fetch all that is missing, or wait until the receiver has done so, and search again.',
      'reconcile',
    ),
    step(
      'doctor',
      'Check that this receiver can ask the service, and that the service reaches this receiver.',
      'doctor',
    ),
  ];
}

function refetchWords(failure: JobToMend['failure']): string {
  return remedyFor(failure?.reason) ?? 'Fetch what is missing from the service.';
}

/** Whether an artefact is a version kept beside the one that counts. */
export function isConflict({ key }: { readonly key: string }): boolean {
  return /(^|\/)jobs\/[^/]+\/conflicts\//.test(key);
}

/**
 * The conflicts with other bytes than the artefacts that count: a chosen version stays among the conflicts as well. Beside one that
 * nobody chose, a conflict with its recorded hash has the right bytes, and the artefact is damaged.
 */
export function otherVersions<Artefact extends Version>(artefacts: readonly Artefact[]): Artefact[] {
  const chosen = artefacts.filter((each) => !isConflict(each) && each.replaced !== null);
  const hashes = new Set(chosen.map(({ sha256 }) => sha256));
  return artefacts.filter((each) => isConflict(each) && (each.sha256 === null || !hashes.has(each.sha256)));
}

/** The conflicts that arrived together with one: a transcript in three forms is chosen as a whole. */
export function conflictsWith<Artefact extends { readonly key: string }>(
  version: Artefact,
  artefacts: readonly Artefact[],
  timeline: readonly TimelineItems[],
): Artefact[] {
  const arrival = timeline.find(({ items }) =>
    items.some(({ key, outcome }) => key === version.key && outcome === 'conflict'),
  );
  const keys = new Set(arrival?.items.flatMap(({ key, outcome }) => (outcome === 'conflict' ? [key] : [])));
  return artefacts.filter((each) => each.key !== version.key && keys.has(each.key) && isConflict(each));
}

/** The artefact beside which a conflict is kept: `…/transcript.json` for `…/conflicts/transcript.json.2a253c`. */
function countingVersion<Artefact extends { readonly key: string }>(
  conflict: { readonly key: string },
  artefacts: readonly Artefact[],
): Artefact | undefined {
  return artefacts.find((artefact) => {
    const [, folder, file] = /^((?:.*\/)?jobs\/[^/]+\/)(?:.*\/)?([^/]+)$/.exec(artefact.key) ?? [];
    return !isConflict(artefact) && conflict.key.startsWith(`${folder}conflicts/${file}.`);
  });
}

/** The artefacts that have other versions. */
export function disputed<Artefact extends Version>(artefacts: readonly Artefact[]): Artefact[] {
  const counting = otherVersions(artefacts).map((other) => countingVersion(other, artefacts));
  return artefacts.filter((artefact) => counting.includes(artefact));
}

/** The versions that do not count now, those that arrived together in one command; then the ones that do. */
function chooseSteps({ jobId, artefacts, timeline }: JobToMend): NextStep[] {
  const others = otherVersions(artefacts);
  const listed = new Set<string>();
  const choose = others.flatMap((version) => {
    if (listed.has(version.key)) return [];
    const keys = [version, ...conflictsWith(version, others, timeline)].map(({ key }) => key);
    for (const key of keys) listed.add(key);
    return [chooseStep('If the version that this command names is right, choose it.', jobId, keys)];
  });
  const kept = disputed(artefacts).map(({ key }) => key);
  if (kept.length === 0) return choose;
  return [...choose, chooseStep('If the version that counts now is right, keep it.', jobId, kept)];
}

function chooseStep(words: string, jobId: string, keys: readonly string[]): NextStep {
  return step('choose', words, `choose ${jobId} ${keys.join(' ')} --reason <words>`);
}

function dismissSteps(bodies: Parameters<typeof nextSteps>[2]): NextStep[] {
  return bodies
    .filter(({ state }) => state === 'waiting')
    .map(({ deliveryId }) =>
      step('dismiss', 'If nobody needs the body, dismiss it.', `dismiss ${deliveryId} --reason <words>`),
    );
}

function step(action: NextStep['action'], words: string, command: string): NextStep {
  return { action, words, command: `transcript-receiver ${command}` };
}

type Outcomes = Readonly<Record<string, number>>;

/** Steps for the items of a replay that would fail again in another replay. */
export function stepsAfterReplay({ undecodable, unrecoverable }: Outcomes): NextStep[] {
  return [
    ...(undecodable
      ? [
          step(
            'refetch',
            'A body that is still undecodable stays so: fetch its job from the service.',
            'refetch <job>',
          ),
          step('dismiss', 'Or dismiss a body that nothing needs.', 'dismiss <id> --reason <words>'),
        ]
      : []),
    ...(unrecoverable
      ? [
          step(
            'import',
            'What the service does not have stays lost there: import the results if you have them elsewhere, or acknowledge the loss.',
            'failures',
          ),
        ]
      : []),
  ];
}
