import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LEDGER_OUTCOMES } from '../../../src/domain/delivery.js';
import { isFailedStatus, KNOWN_CALLBACK_STATUSES } from '../../../src/domain/job.js';
import { DOCUMENTED_REGIONS } from '../../../src/domain/region.js';

/** Names in the part of a document that a pattern finds. */
function namesIn(document: string, part: RegExp): (string | undefined)[] {
  const text = part.exec(readFileSync(document, 'utf8'))?.[0] ?? '';
  return [...text.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
}

describe('callback statuses', () => {
  it('are those of the interface of the service', () => {
    expect(namesIn('docs/service-interface.md', /The status is [^.]*\./)).toEqual(KNOWN_CALLBACK_STATUSES);
  });

  it('are the ones that the simulator can be asked for', () => {
    expect(namesIn('docs/simulator.md', /callback status as `outcome`: [^.]*\./).slice(1)).toEqual(
      KNOWN_CALLBACK_STATUSES,
    );
  });

  it('of failed jobs make the event that the table of events says', () => {
    const named = namesIn('docs/decisions/outbox.md', /^\| status .*`job\.failed`/m);
    expect(KNOWN_CALLBACK_STATUSES.filter((status) => named.includes(status))).toEqual(
      KNOWN_CALLBACK_STATUSES.filter(isFailedStatus),
    );
  });
});

describe('regions', () => {
  it('are those of the interface of the service', () => {
    expect(namesIn('docs/service-interface.md', /^## Regions$.*? for batch/ms)).toEqual(DOCUMENTED_REGIONS);
  });
});

describe('outcomes of the ledger', () => {
  it('are in its document', () => {
    const named = namesIn('docs/ledger.md', /^### Outcomes$.*?^## /ms);
    expect(LEDGER_OUTCOMES.filter((outcome) => !named.includes(outcome))).toEqual([]);
  });
});
