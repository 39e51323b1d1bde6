import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../../../src/domain/problem.js';
import {
  contextOfStoredQuery,
  parseCallbackQuery,
  storableQuery,
} from '../../../../src/receive/access/callback-query.js';

describe('parseCallbackQuery', () => {
  // Rule: Callback request: `id` and `status` in the query
  it('reads id and status', () => {
    expect(parseCallbackQuery('id=650krlru2e&status=success')).toEqual({
      jobId: '650krlru2e',
      status: 'success',
      contents: [],
      context: null,
      contextOmitted: null,
    });
  });

  // Rule: Callback request: `id` and `status` in the query
  it("ignores the submitter's own parameters, in whatever form", () => {
    const query = 'tenant=a&tenant=b&x[0]=1&id=a-b_C9&%00=%ff&empty&status=error&__proto__=1';
    expect(parseCallbackQuery(query)).toMatchObject({ jobId: 'a-b_C9', status: 'error' });
  });

  it('keeps the context in a query that can be stored, and nothing else', () => {
    const query = parseCallbackQuery('id=a&status=error&call=%2B1%261&call2=x&secret=y&customer=%00', [
      'call',
      'customer',
      'constructor',
    ]);
    expect(storableQuery(query)).toBe('id=a&status=error&call=%2B1%261');
    expect(contextOfStoredQuery(storableQuery(query))).toEqual({ call: '+1&1' });
    expect(contextOfStoredQuery('id=a&status=error&contents=data')).toBeNull();
  });

  it.each(['id=a&status=b', 'id=a&status=b&contents=transcript.srt%2Cdata'])(
    'stores %s as it came',
    (query) => {
      expect(storableQuery(parseCallbackQuery(query))).toBe(query);
    },
  );

  // Rule: Callback request: a job stays `done` whatever its callbacks do
  // Rule: Silences: other callback statuses, other contents, `alignment` jobs
  it('accepts an unknown status', () => {
    expect(parseCallbackQuery('id=a&status=re-run.v2').status).toBe('re-run.v2');
  });

  it.each([
    ['contents=transcript.srt', ['transcript.srt']],
    ['contents=transcript,jobinfo', ['transcript', 'jobinfo']],
    ['contents=transcript%2C%20data', ['transcript', 'data']],
    ['contents=transcript:txt&contents=data', ['transcript:txt', 'data']],
    ['contents=', []],
    ['contents=%0d%0a,%3Cscript%3E,data,data', ['data']],
  ])('reads the hint %s', (hint, contents) => {
    expect(parseCallbackQuery(`id=a&status=success&${hint}`).contents).toEqual(contents);
  });

  it('bounds the hint', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `t${index}`).join(',');
    expect(parseCallbackQuery(`id=a&status=success&contents=${many}`).contents).toHaveLength(16);
  });

  it.each([
    ['', /id is missing/],
    ['status=success', /id is missing/],
    ['id=a', /status is missing/],
    ['id=a&id=a&status=success', /id occurs more than once/],
    ['id=a&status=success&status=success', /status occurs more than once/],
    ['id=&status=success', /id must be/],
    ['id=a&status=', /status must be/],
    ['id=../../etc&status=success', /id must be/],
    ['id=a%2Fb&status=success', /id must be/],
    ['id=a%00&status=success', /id must be/],
    ['id=a+b&status=success', /id must be/],
    ['id=a%0A&status=success', /id must be/],
    [`id=${'a'.repeat(65)}&status=success`, /id must be/],
    [`id=a&status=${'s'.repeat(65)}`, /status must be/],
    ['id=a&status=suc%20cess', /status must be/],
    ['ID=a&status=success', /id is missing/],
    ['id[]=a&status=success', /id is missing/],
  ])('refuses %j', (query, detail) => {
    const attempt = () => parseCallbackQuery(query);
    expect(attempt).toThrow(detail);
    expect(attempt).toThrow(Problem);
    expect(attempt).toThrow(expect.objectContaining({ code: 'query-invalid', status: 400 }));
  });
});
