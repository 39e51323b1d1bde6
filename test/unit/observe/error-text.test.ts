import { describe, expect, it } from '@jest/globals';
import { errorText } from '../../../src/observe/error-text.js';

describe('errorText', () => {
  it('names an error and its causes in one line, without their stacks', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    const error = new TypeError('the store failed', { cause: new Error('no answer', { cause: refused }) });
    expect(errorText(error)).toBe(
      'TypeError: the store failed; Error: no answer; AggregateError: ECONNREFUSED',
    );
  });

  it('ends where causes do not', () => {
    const error = new Error('x'.repeat(300));
    error.cause = error;
    expect(errorText(error)).toHaveLength(500);
  });

  it('accepts any thrown value', () => {
    expect(errorText('a string')).toBe('a string');
    expect(errorText(undefined)).toBeUndefined();
  });
});
