import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';

const { explainTarget } = pageModule('views/refusals-view');

const refusal = {
  source: 'intake',
  reason: 'address-refused',
  cause: null,
  peer: '10.0.0.1',
  forwardedFor: null,
};

describe('the link of a refusal to Explain', () => {
  it.each([
    ['an address', {}, 'address-refused'],
    ['a wrong credential', { reason: 'credential-invalid', cause: 'credential-wrong' }, 'credential-wrong'],
    ['a credential of an older replica', { reason: 'credential-invalid' }, 'credential-invalid'],
  ])('says why the request was rejected: %s', (_, overrides, refused) => {
    const target = explainTarget({ ...refusal, ...overrides });
    expect(target).toContain(`refused=${refused}`);
    expect(target).toContain('address=10.0.0.1');
    expect(target).not.toContain('run=');
  });

  it.each([
    ['a body that Explain does not judge', { reason: 'body-incomplete', peer: '10.0.0.1' }],
    ['a request whose peer was not kept', { peer: null }],
    ['a source that is not configured', { reason: 'source-unknown', source: null }],
    ['a sign-in', { reason: 'sign-in-wrong', source: null }],
  ])('is missing for %s', (_, overrides) => {
    expect(explainTarget({ ...refusal, ...overrides })).toBeNull();
  });
});
