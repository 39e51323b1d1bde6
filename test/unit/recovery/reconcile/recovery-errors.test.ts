import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../../../src/domain/problem.js';
import { failureReason, UnfitContentError } from '../../../../src/recovery/reconcile/recovery-errors.js';
import { SpeechError } from '../../../../src/speech/speech-error.js';
import { StoreError } from '../../../../src/store/object-store.js';

describe('the reason of a failure', () => {
  it.each([
    [new StoreError('head', 'access denied'), 'the store failed: head: access denied'],
    [new SpeechError('network', 'list jobs in eu1', 'refused'), 'list jobs in eu1: refused'],
    [new Problem('overloaded', 'others wait for memory'), 'others wait for memory'],
    [
      new UnfitContentError('transcript.txt', 'is a web page'),
      'the transcript.txt that the service sent is a web page; it was not archived',
    ],
  ])('is the message of a known error: %s', (error, reason) => {
    expect(failureReason(error)).toBe(reason);
  });

  it('is never the message of an unknown error, which may hold secrets', () => {
    for (const error of [new Error('key=secret'), new TypeError('key=secret'), 'key=secret', null]) {
      expect(failureReason(error)).toBe('an unexpected error occurred');
    }
  });
});
