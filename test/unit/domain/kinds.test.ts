import { describe, expect, it } from '@jest/globals';
import {
  CONTENT_TOKENS,
  KINDS,
  kindOfToken,
  RETRIEVABLE_KINDS,
  retentionClassOf,
} from '../../../src/domain/kinds.js';
import { pageModule } from '../../support/dashboard/page-module.js';

describe('the kinds of content', () => {
  it('are those of the page', () => {
    expect(pageModule('vendor/kinds').KINDS).toEqual(KINDS);
  });

  it.each([
    ['transcript', 'transcript.json-v2'],
    ['Transcript:SRT', 'transcript.srt'],
    ['jobinfo', 'jobinfo'],
    ['attachment', null],
    ['constructor', null],
    ['', null],
  ])('are named by tokens of contents: %j', (token, kind) => {
    expect(kindOfToken(token)).toBe(kind);
  });

  it('have tokens, keys and documents of their own', () => {
    expect(new Set(CONTENT_TOKENS).size).toBe(CONTENT_TOKENS.length);
    for (const field of ['file', 'document'] as const) {
      expect(new Set(RETRIEVABLE_KINDS.map((kind) => KINDS[kind][field])).size).toBe(
        RETRIEVABLE_KINDS.length,
      );
    }
  });

  it.each(['a-kind-of-a-newer-version', '__proto__', 'constructor'])('are attachments else: %s', (kind) => {
    expect(retentionClassOf(kind as never)).toBe('attachment');
  });
});
