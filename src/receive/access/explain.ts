import { Problem } from '../../domain/problem.js';
import { REASONS } from '../../domain/reasons.js';
import type { RequestHeaders } from '../callback-request.js';
import type { AccessDecision } from './access-check.js';
import { type CheckReport, unknownSourceReport } from './access-report.js';
import type { Source } from './sources.js';

/** A request to explain. Header names in any case. */
export interface ExplainRequest {
  readonly source: string;
  /** Address of the connection's peer: the sender, or the proxy in front of the receiver. */
  readonly peer: string;
  readonly headers: RequestHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The decision about a callback, and its reasons (docs/cli.md). */
export interface Explanation {
  readonly decision: 'accept' | 'refuse';
  /** 200 for accept, else the status of the response. */
  readonly status: number;
  /** Text for the operator, with details that the sender does not get. */
  readonly reason: string;
  readonly clientIp: string | null;
  readonly region: string | null;
  readonly rule: string | null;
  readonly credential: string | null;
  /** Every check, even after one has failed, with what came closest and what to change. */
  readonly gates: readonly CheckReport[];
}

/** Runs the receiver's own checks, so that the explanation cannot differ from their decision. */
export function explain(
  sources: ReadonlyMap<string, Pick<Source, 'checkAccess' | 'reportAccess'>>,
  { source: name, peer, headers, now }: ExplainRequest,
): Explanation {
  const source = sources.get(name);
  if (source === undefined) return unknownSource(name, sources.keys());
  const request = { peer, headers: byLowerCaseName(headers), now };
  const decision = source.checkAccess(request);
  const { problem, clientIp, region, rule, credential } = decision;
  return {
    decision: problem === null ? 'accept' : 'refuse',
    status: problem?.status ?? 200,
    reason: reasonOf(decision),
    clientIp,
    region,
    rule,
    credential,
    gates: source.reportAccess(request),
  };
}

function reasonOf({ problem, credential, credentialFailure, rule, wouldRefuse }: AccessDecision): string {
  if (credentialFailure !== null) return REASONS[`credential-${credentialFailure}`].words;
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

/** Headers as Node delivers them: names in lower case, values trimmed. A header in two spellings counts as repeated. */
function byLowerCaseName(headers: RequestHeaders): RequestHeaders {
  const merged = new Map<string, string[]>();
  for (const [name, values] of Object.entries(headers)) {
    const key = name.toLowerCase();
    const trimmed = (values ?? []).map((value) => value.replace(/^[ \t]+|[ \t]+$/g, ''));
    merged.set(key, [...(merged.get(key) ?? []), ...trimmed]);
  }
  return Object.fromEntries(merged);
}
