import { describe, expect, it } from '@jest/globals';
import type { UndecodableReason } from '../../../src/archive/content/decode-error.js';
import type { ProblemCode } from '../../../src/domain/problem.js';
import { explainFrom, REASONS, type Reason, reasonInWords, remedyFor } from '../../../src/domain/reasons.js';
import type { SignInFailure } from '../../../src/observe/metrics/sign-in-metrics.js';
import type { AuthenticationFailure } from '../../../src/receive/access/authenticate.js';
import type { RealtimeSessionError } from '../../../src/speech/realtime/realtime-error.js';
import type { ErrorType } from '../../../src/speech/realtime/wire.js';
import { pageModule } from '../../support/dashboard/page-module.js';
import { readSources } from '../../support/project/source-imports.js';

/** The codes that types of src name. The compiler reports those that the table lacks. */
type TypedCode =
  | ProblemCode
  | UndecodableReason
  | `sign-in-${SignInFailure}`
  | `credential-${AuthenticationFailure}`
  | RealtimeSessionError['kind']
  | ErrorType;
const table: Readonly<Record<TypedCode, Reason>> = REASONS;
const entries = Object.entries<Reason>(table);

/** Files whose member `reason` is another set of codes, with words of its own, or part of a code. */
const OTHER_SETS = [
  /^store\/(object-store|s3\/(purge-objects|read-object))\.ts$/,
  /^subscribers\/dead\/dead-event\.ts$/,
  /^observe\/metrics\/outbox-metrics\.ts$/,
  /^recovery\/verify\//,
  /^receive\/access\/authenticate\.ts$/,
  /^simulator\//,
];

/** Codes that src gives as a reason, with the file. */
function literalCodes(): string[] {
  return [...readSources()]
    .filter(([file]) => !OTHER_SETS.some((other) => other.test(file)))
    .flatMap(([file, text]) =>
      [
        ...text.matchAll(/\breason: '([a-z_-]+)'/g),
        ...text.matchAll(/#reason = '([a-z_-]+)'/g),
        ...text.matchAll(/new (?:Problem|UndecodableError)\(\s*'([a-z_-]+)'/g),
        ...text.matchAll(/\b(?:refusalLine|quarantined|ended)\([^)]*'([a-z]+(?:[_-][a-z]+)+)'/g),
      ].map(([, code]) => `${code} in ${file}`),
    );
}

describe('the table of reasons', () => {
  it('has words for every code in src', () => {
    const used = literalCodes();
    expect(used).toEqual(
      expect.arrayContaining([
        'body-incomplete in receive/receive.ts',
        'audio-unreadable in cli/capture/run-session.ts',
        'erased in receive/delivery.ts',
      ]),
    );
    expect(used.filter((code) => !Object.hasOwn(REASONS, code.split(' ')[0] ?? ''))).toEqual([]);
  });

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

  it('offers Explain for what it judges, and nothing else', () => {
    expect(explainFrom('address-refused')).toBe('address');
    expect(explainFrom('credential-wrong')).toBe('headers');
    for (const code of ['body-incomplete', 'body-too-large', 'sign-in-wrong', 'constructor', null])
      expect(explainFrom(code)).toBeNull();
  });

  it('returns what an operator or the service wrote unchanged', () => {
    expect(reasonInWords('constructor')).toBe('constructor');
    expect(reasonInWords('the service answered 503')).toBe('the service answered 503');
    expect([reasonInWords(null), reasonInWords(''), remedyFor('toString')]).toEqual([null, null, null]);
  });

  it('is the one of the page', () => {
    expect(pageModule('vendor/reasons').REASONS).toEqual(REASONS);
  });
});
