import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { isFailedStatus, KNOWN_CALLBACK_STATUSES } from '../../../src/domain/job.js';

const serviceInterface = readFileSync('docs/service-interface.md', 'utf8');
const ruleOfFailures = readFileSync('docs/decisions/outbox.md', 'utf8').match(
  /^\| status .*`job\.failed`/m,
)?.[0];

describe('a callback status', () => {
  it.each(KNOWN_CALLBACK_STATUSES)('%s is in the interface of the service', (status) => {
    expect(serviceInterface).toContain(`\`${status}\``);
  });

  it.each(KNOWN_CALLBACK_STATUSES)('%s makes the event that the table of events says', (status) => {
    expect(ruleOfFailures?.includes(`\`${status}\``)).toBe(isFailedStatus(status));
  });
});
