import { describe, expect, it } from '@jest/globals';
import type { UndecodableReason } from '../../../src/archive/content/decode-error.js';
import type { CALLBACK_REFUSALS, ProblemCode } from '../../../src/domain/problem.js';
import { REASONS, type Reason, reasonInWords, remedyFor } from '../../../src/domain/reasons.js';
import type { SignInFailure } from '../../../src/observe/metrics/sign-in-metrics.js';
import type { AuthenticationFailure } from '../../../src/receive/access/authenticate.js';
import type { RealtimeSessionError } from '../../../src/speech/realtime/realtime-error.js';
import type { ErrorType } from '../../../src/speech/realtime/wire.js';
import { pageModule } from '../../support/dashboard/page-module.js';

/** The codes that types of src name, and those that it writes as they are. The compiler reports what the table lacks, or has besides. */
type UsedCode =
  | (typeof CALLBACK_REFUSALS)[number]
  | ProblemCode
  | UndecodableReason
  | `sign-in-${SignInFailure}`
  | `credential-${AuthenticationFailure}`
  | RealtimeSessionError['kind']
  | ErrorType
  | 'audio-unreadable'
  | 'duration-limit'
  | 'erased'
  | 'http2'
  | 'proxy-protocol'
  | 'ticket'
  | 'tls';
const table: Readonly<Record<UsedCode, Reason>> = REASONS;
const codes: readonly UsedCode[] = Object.keys(REASONS) as (keyof typeof REASONS)[];
const entries = Object.entries<Reason>(table);

describe('the table of reasons', () => {
  it.each(entries)('%s is part of a sentence, and its remedy is sentences', (_, { words, remedy }) => {
    expect(words).toMatch(/^[^A-Z].*[^.]$/);
    expect(remedy ?? 'Nothing.').toMatch(/^[A-Z].*\.$/);
  });

  it('has a remedy for everything that makes a job fail or fills the quarantine', () => {
    const withoutRemedy = entries.filter(([, { remedy }]) => remedy === null).map(([code]) => code);
    expect(withoutRemedy.filter((code) => /^(body|multipart|json|encoding|store|query)-/.test(code))).toEqual(
      [],
    );
  });

  it('returns what an operator or the service wrote unchanged', () => {
    expect(reasonInWords('constructor')).toBe('constructor');
    expect(reasonInWords('the service answered 503')).toBe('the service answered 503');
    expect([reasonInWords(null), reasonInWords(''), remedyFor('toString')]).toEqual([null, null, null]);
  });

  it('is the one of the page', () => {
    expect(Object.keys(pageModule('vendor/reasons').REASONS)).toEqual(codes);
    expect(pageModule('vendor/reasons').REASONS).toEqual(REASONS);
  });
});
