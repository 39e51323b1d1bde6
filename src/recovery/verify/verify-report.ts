import type { LedgerLine } from '../../domain/delivery.js';
import type { ArtefactClaim } from './artefact-claims.js';
import type { Comparison } from './check-artefact.js';
import type { VerifyFinding } from './verify-finding.js';

/**
 * `replaced`: an operator chose another version, and these bytes are among the conflicts; or it was lost and fetched again with other
 * content. `unchecked`: the store did not answer.
 */
export const VERIFY_OUTCOMES = [
  'intact',
  'missing',
  'damaged',
  'erased',
  'expired',
  'acknowledged',
  'replaced',
  'unchecked',
] as const;
type VerifyOutcome = (typeof VERIFY_OUTCOMES)[number];

/** Why a finding is not open, according to a later line. */
export type SettledAs = 'erased' | 'expired' | 'acknowledged' | 'replaced';

/** An operator's choice of the version that counts, or a recovery that replaced an artefact. */
export interface ChosenVersion extends Pick<LedgerLine, 'reason'> {
  /** ISO 8601. */
  readonly chosenAt: string;
  readonly actor: string | null;
}

/** An artefact that another version replaced. */
interface ReplacedArtefact extends Pick<ArtefactClaim, 'jobId' | 'key' | 'sha256'> {
  /** The last choice or recovery; null when its line is not in the window. */
  readonly choice: ChosenVersion | null;
}

/** Why a run is not complete. */
interface VerifyFault {
  /** Key of the object or folder; null for the whole run. */
  readonly key: string | null;
  readonly reason: string;
}

/** Scope and results of a run; printed by `--json` and kept in the store. */
export interface VerifyReport {
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Version of the product. */
  readonly version: string;
  readonly store: string;
  /** Lines written at or after `since` and before `until`. */
  readonly window: { readonly since: string; readonly until: string };
  /** The bytes were read and hashed. */
  readonly deep: boolean;
  /** ISO 8601, by kind of `retention.<kind>`: objects received before it that are missing count as expired. */
  readonly expiredBefore: Readonly<Record<string, string>>;
  /** Everything in the window was read and checked. */
  readonly complete: boolean;
  /** Artefacts about which the store gave an answer. */
  readonly checked: number;
  /** Size of the intact ones. */
  readonly bytes: number;
  readonly outcomes: Readonly<Record<VerifyOutcome, number>>;
  /** Number of intact artefacts by kind of comparison. */
  readonly compared: Readonly<Record<Comparison, number>>;
  readonly ledger: {
    /** Objects of the ledger that were read. */
    readonly segments: number;
    /** Lines of the window. */
    readonly lines: number;
    /** Lines that are damaged, or of a newer version, in the hours of the window. */
    readonly unreadable: number;
    /** Items that name no object. */
    readonly unusable: number;
  };
  /** In ledger order, at most `MAX_FINDINGS`; `outcomes` counts all. */
  readonly missing: readonly VerifyFinding[];
  readonly damaged: readonly VerifyFinding[];
  /** At most `MAX_FINDINGS`, like those. */
  readonly replaced: readonly ReplacedArtefact[];
  /** Commands that fetch what the service may still have. */
  readonly refetch: readonly string[];
  /** At most `MAX_FAULTS`. */
  readonly faults: readonly VerifyFault[];
}

/** Enough to repair from; the counts continue. */
const MAX_FINDINGS = 10_000;
/** Findings kept until the end of the run, half a kilobyte each: more than reported, because later lines settle some of them. */
const MAX_KEPT = 100_000;
const MAX_FAULTS = 100;

type LedgerFigures = { -readonly [name in keyof VerifyReport['ledger']]: VerifyReport['ledger'][name] };

export type VerifyReportBuilder = ReturnType<typeof buildVerifyReport>;

type VerifyScope = Pick<
  VerifyReport,
  'startedAt' | 'version' | 'store' | 'window' | 'deep' | 'expiredBefore'
>;

export function buildVerifyReport({ startedAt, ...facts }: VerifyScope) {
  const outcomes = Object.fromEntries(VERIFY_OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    VerifyOutcome,
    number
  >;
  const compared = { content: 0, metadata: 0, size: 0 };
  const ledger: LedgerFigures = { segments: 0, lines: 0, unreadable: 0, unusable: 0 };
  const findings: Record<'missing' | 'damaged', VerifyFinding[]> = { missing: [], damaged: [] };
  const replacedOnes: Pick<ArtefactClaim, 'jobId' | 'key' | 'sha256'>[] = [];
  const faults: VerifyFault[] = [];
  let faulty = false;
  let bytes = 0;
  const replaced = (one: Pick<ArtefactClaim, 'jobId' | 'key' | 'sha256'>) => {
    outcomes.replaced += 1;
    if (replacedOnes.length < MAX_FINDINGS) replacedOnes.push(one);
  };
  const checked = () => VERIFY_OUTCOMES.reduce((sum, each) => sum + outcomes[each], -outcomes.unchecked);

  return {
    ledger,
    /** The artefact is as the ledger says. */
    intact(how: Comparison, size: number) {
      outcomes.intact += 1;
      compared[how] += 1;
      bytes += size;
    },
    count(outcome: 'erased' | 'expired' | 'unchecked') {
      outcomes[outcome] += 1;
    },
    finding(finding: VerifyFinding) {
      const outcome = finding.reason === 'missing' ? 'missing' : 'damaged';
      outcomes[outcome] += 1;
      if (findings[outcome].length < MAX_KEPT) findings[outcome].push(finding);
    },
    replaced,
    fault(key: string | null, reason: string) {
      faulty = true;
      if (faults.length < MAX_FAULTS) faults.push({ key, reason });
    },
    get checked() {
      return checked();
    },
    get bytes() {
      return bytes;
    },
    /** @param refetchOf the commands that fetch these */
    finish(
      finishedAt: string,
      {
        settled,
        choiceOf,
      }: {
        readonly settled: (finding: VerifyFinding) => SettledAs | null;
        readonly choiceOf: (key: string) => ChosenVersion | null;
      },
      refetchOf: (findings: readonly VerifyFinding[]) => string[],
    ): VerifyReport {
      const isOpen = (outcome: 'missing' | 'damaged', finding: VerifyFinding) => {
        const settlement = settled(finding);
        if (settlement === null) return true;
        outcomes[outcome] -= 1;
        if (settlement === 'replaced') replaced({ ...finding, sha256: finding.expected.sha256 });
        else outcomes[settlement] += 1;
        return false;
      };
      const open = (outcome: 'missing' | 'damaged') =>
        findings[outcome].filter((finding) => isOpen(outcome, finding)).slice(0, MAX_FINDINGS);
      const missing = open('missing');
      const damaged = open('damaged');
      return {
        startedAt,
        finishedAt,
        ...facts,
        complete: !faulty && outcomes.unchecked + ledger.unreadable + ledger.unusable === 0,
        checked: checked(),
        bytes,
        outcomes,
        compared,
        ledger,
        missing,
        damaged,
        replaced: replacedOnes.map(({ jobId, key, sha256 }) => ({
          jobId,
          key,
          sha256,
          choice: choiceOf(key),
        })),
        refetch: refetchOf([...missing, ...damaged]),
        faults,
      };
    },
  };
}
