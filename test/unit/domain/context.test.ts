import { describe, expect, it } from '@jest/globals';
import {
  artefactMetadata,
  longestMetadata,
  MAX_METADATA_BYTES,
} from '../../../src/domain/artefact-metadata.js';
import { hasContextValue, metadataName, NO_CONTEXT, readContext } from '../../../src/domain/context.js';

const read = (query: string, ...names: string[]) => readContext(new URLSearchParams(query), names);

describe('the context of a query', () => {
  it('holds the admitted parameters, whatever else there is', () => {
    expect(read('id=a&call=123&customer=A-7&team=x&status=success', 'call', 'customer', 'case')).toEqual({
      context: { call: '123', customer: 'A-7' },
      contextOmitted: null,
    });
    expect(read('call=1', 'customer')).toEqual(NO_CONTEXT);
    expect(read('call=1&call=2')).toEqual(NO_CONTEXT);
  });

  it.each([
    ['%2B49', '+49'],
    ['a%2Fb%26c%3Dd', 'a/b&c=d'],
    ['%ZZ', '%ZZ'],
    ['=', '='],
    ['!~', '!~'],
    ['x'.repeat(128), 'x'.repeat(128)],
  ])('takes the value %s', (encoded, value) => {
    expect(read(`call=${encoded}`, 'call')).toEqual({ context: { call: value }, contextOmitted: null });
  });

  it.each(['', '%00', 'a+b', 'a%20b', '+', '%0a', '%7f', 'ü', '%c3%bc', '%ff', 'x'.repeat(129)])(
    'leaves out the malformed value %j, and keeps the others',
    (value) => {
      expect(read(`call=${value}&customer=7`, 'call', 'customer')).toEqual({
        context: { customer: '7' },
        contextOmitted: { call: 'malformed' },
      });
    },
  );

  it.each(['call=1&call=2', 'call=1&call=1', 'call=%00&c%61ll=1', 'call&call'])(
    'leaves out what occurs twice in %s',
    (query) => {
      expect(read(query, 'call')).toEqual({ context: null, contextOmitted: { call: 'repeated' } });
    },
  );

  it('takes names of JavaScript for names', () => {
    const { context } = read('constructor=1&__proto__=2&toString=3', 'constructor');
    expect(JSON.stringify(context)).toBe('{"constructor":"1"}');
    expect(hasContextValue(context, 'constructor', '1')).toBe(true);
    expect(hasContextValue({}, 'constructor', '1')).toBe(false);
    expect(hasContextValue({ call: 1 }, 'call', '1')).toBe(false);
    for (const none of [null, undefined, 'call', 5, ['1']])
      expect(hasContextValue(none, 'call', '1')).toBe(false);
  });
});

describe('the metadata of an artefact with a context', () => {
  const FACTS = {
    deliveryId: 'D'.repeat(26),
    jobId: 'j'.repeat(64),
    status: 's'.repeat(64),
    source: 'source',
    region: 'eu1',
    origin: 'callback',
    receivedAt: '2026-01-02T03:04:05.678Z',
  } as const;
  const ITEM = { kind: 'transcript.json-v2', sha256: 'a'.repeat(64) } as const;
  const bytesOf = (metadata: Record<string, string>) =>
    Object.entries(metadata).reduce((sum, [name, value]) => sum + `x-amz-meta-${name}${value}`.length, 0);

  it('has a name that every header may have, with the value as it is', () => {
    const metadata = artefactMetadata({ ...FACTS, context: { 'Call_Id.2': 'a%2Bb"=;' } }, ITEM);
    expect(metadata['context-call-id-2']).toBe('a%2Bb"=;');
    expect(metadataName('call')).toBe('context-call');
  });

  it('never is more than S3 takes: names of the sender yield', () => {
    const names = Array.from({ length: 8 }, (_, index) => `${index}`.padEnd(24, 'n'));
    const context = Object.fromEntries(names.map((name) => [name, '~'.repeat(128)]));
    const names128 = { fileName: 'ü'.repeat(999), partName: 'x'.repeat(999) };
    const metadata = artefactMetadata({ ...FACTS, context }, { ...ITEM, ...names128 });
    expect(bytesOf(metadata)).toBeLessThanOrEqual(MAX_METADATA_BYTES);
    expect(bytesOf(metadata)).toBeGreaterThan(MAX_METADATA_BYTES - 12);
    expect(metadata['file-name']).toMatch(/^(%C3%BC)+$/);
    expect(longestMetadata('source', names)).toBeLessThanOrEqual(MAX_METADATA_BYTES);
    // Without a context, they have what they had.
    expect(artefactMetadata({ ...FACTS, context: null }, { ...ITEM, ...names128 })['part-name']).toHaveLength(
      512,
    );
  });

  it('is at most as long as the configuration counts', () => {
    const names = ['call', 'customer'];
    const context = { call: 'x'.repeat(128), customer: 'y'.repeat(128) };
    const facts = { ...FACTS, origin: 'callback', region: 'a-region-of-16-c', context } as const;
    const short = { fileName: 'f'.repeat(32), partName: 'p'.repeat(32) };
    expect(longestMetadata('source', names)).toBe(bytesOf(artefactMetadata(facts, { ...ITEM, ...short })));
  });
});
