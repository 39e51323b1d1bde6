import type { Region } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';
import type { RequestHeaders } from '../request-headers.js';
import { type GateReport, unknownSourceReport } from './access-report.js';
import type { AuthenticationFailure } from './authenticate.js';
import type { Gate } from './gate.js';
import type { Source } from './sender.js';

/** A request to be thought through. Header names in any case. */
export interface ExplainRequest {
  readonly source: string;
  /** Address of the connection's other end: the sender, or the proxy in front of us. */
  readonly peer: string;
  readonly headers: RequestHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What would happen to a callback and why (docs/cli.md). */
export interface Explanation {
  readonly decision: 'accept' | 'refuse';
  /** 200 for accept, else the status the sender would see. */
  readonly status: number;
  /** In words, for the operator: more than the sender is told. */
  readonly reason: string;
  readonly clientIp: string | null;
  readonly region: Region | null;
  readonly rule: string | null;
  readonly credential: string | null;
  /** Every check, also behind the first that fails, with what came closest and what would have to change. */
  readonly gates: readonly GateReport[];
}

const FAILURES: Record<AuthenticationFailure, string> = {
  missing: 'no header of any credential was sent',
  wrong: 'the headers match no credential',
  repeated: 'a credential header occurs more than once',
  'not-yet-valid': 'the credential is not valid yet (notBefore)',
  expired: 'the credential has expired (expires)',
};

/** Asks the gates that guard the receiver itself; there is no second logic that could differ. */
export function explain(
  sources: ReadonlyMap<string, Pick<Source, 'gate' | 'report'>>,
  request: ExplainRequest,
): Explanation {
  const source = sources.get(request.source);
  if (source === undefined) return unknownSource(request.source, sources.keys());
  const knock = { peer: request.peer, headers: byLowerCaseName(request.headers), now: request.now };
  const decision = source.gate(knock);
  const { problem, clientIp, region, rule, credential } = decision;
  return {
    decision: problem === null ? 'accept' : 'refuse',
    status: problem?.status ?? 200,
    reason: reasonOf(decision),
    clientIp,
    region,
    rule,
    credential,
    gates: source.report(knock),
  };
}

function reasonOf({ problem, credential, credentialFailure, rule, wouldRefuse }: ReturnType<Gate>): string {
  if (credentialFailure !== null) return `credential: ${FAILURES[credentialFailure]}`;
  if (problem !== null) return problem.message;
  const address =
    wouldRefuse === null
      ? `the address is admitted by ${rule}`
      : `the address would be refused (${wouldRefuse}), but allowMode is report`;
  return credential === null
    ? `${address}; the source has no credentials`
    : `${address}; credential ${credential} matches`;
}

function unknownSource(source: string, known: Iterable<string>): Explanation {
  const problem = new Problem('source-unknown', `There is no source ${JSON.stringify(source.slice(0, 64))}.`);
  return {
    decision: 'refuse',
    status: problem.status,
    reason: problem.message,
    clientIp: null,
    region: null,
    rule: null,
    credential: null,
    gates: unknownSourceReport(source, known),
  };
}

/** As Node delivers them, so that a header given twice in different case is still given twice. */
function byLowerCaseName(headers: RequestHeaders): RequestHeaders {
  const merged = new Map<string, string[]>();
  for (const [name, values] of Object.entries(headers)) {
    const key = name.toLowerCase();
    merged.set(key, [...(merged.get(key) ?? []), ...(values ?? [])]);
  }
  return Object.fromEntries(merged);
}
