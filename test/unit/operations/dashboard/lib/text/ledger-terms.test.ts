import { describe, expect, it } from '@jest/globals';
import { LEDGER_OUTCOMES } from '../../../../../../src/domain/delivery.js';
import { pageModule } from '../../../../../support/dashboard/page-module.js';
import { ledgerLine } from '../../../../../support/ledger/ledger-lines.js';

const { outcomeOf, provenanceOf } = pageModule('lib/text/ledger-terms');

describe('an outcome', () => {
  it.each(LEDGER_OUTCOMES)('%s has words of its own', (outcome) => {
    expect(outcomeOf(outcome).word).toMatch(/^[A-Z]/);
  });
});

describe('where a line comes from', () => {
  it.each([
    [{ origin: 'replay', outcome: 'erased' }, 'erased by anna'],
    [{ origin: 'replay', outcome: 'acknowledged' }, 'acknowledged by anna'],
    [{ origin: 'replay', outcome: 'dismissed' }, 'dismissed by anna'],
    [{ origin: 'replay', outcome: 'released' }, 'released by anna'],
    [{ origin: 'replay', outcome: 'release-failed' }, 'replay by anna'],
    [{ origin: 'replay', outcome: 'replayed' }, 'refetch started by anna'],
    [{ origin: 'replay', outcome: 'replayed', jobId: null }, 'replay started by anna'],
    [{ origin: 'replay', outcome: 'cancelled', jobId: null }, 'replay cancelled by anna'],
    [{ origin: 'replay', outcome: 'recovered' }, 'refetched by anna'],
    [{ origin: 'import', outcome: 'duplicate' }, 'imported by anna'],
    [{ origin: 'admin', outcome: 'read' }, 'admin port by anna'],
    [{ origin: 'recovery', outcome: 'recovered', actor: undefined }, 'fetched from the service'],
    [{ origin: 'replay', outcome: 'constructor' }, 'refetched by anna'],
  ])('%j is %s', (fields, words) => {
    expect(provenanceOf(ledgerLine({ actor: 'anna', ...fields } as never))).toBe(words);
  });
});
