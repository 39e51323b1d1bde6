import { describe, expect, it } from '@jest/globals';
import { JobIdFinder } from '../../../../src/archive/content/job-id-finder.js';

function found(text: string, chunkSize = 1): string | null {
  const finder = new JobIdFinder();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkSize) finder.push(bytes.subarray(at, at + chunkSize));
  return finder.id;
}

describe('the job id within a document', () => {
  it.each([
    ['{"format":"2.9","job":{"created_at":"x","id":"abc"},"results":[]}', 'abc'],
    ['{"results":[{"job":{"id":"no"}}],"job": { "data" : {"id":"no"}, "id" : "abc" }}', 'abc'],
    ['\ufeff{"job":{"tags":["id","no"],"name":"a \\"quoted\\" }{ ,","id":"abc"}}', 'abc'],
    ['{"j\\u006fb":{"id":"no"}, "job":{"id":"a\\u0062c"}}', 'abc'],
    ['{"job":{"id":7},"id":"no"}', null],
    ['{"other":{"id":"no"},"job":"id"}', null],
    ['[1,"job",{"id":"no"}]', null],
    ['{"job":[{"id":"no"}],"id":"no"}', null],
    ['{"job":{"config":{"job":{"id":"no"}}}}', null],
    ['', null],
  ])('of %s is %s, however it is cut', (text, id) => {
    for (const chunkSize of [1, 3, 1000]) expect(found(text, chunkSize)).toBe(id);
  });

  it('keeps no more than it needs of endless strings', () => {
    const finder = new JobIdFinder();
    finder.push(Buffer.from('{"job":{"id":"'));
    for (let n = 0; n < 100; n += 1) finder.push(Buffer.alloc(10_000, 'x'));
    finder.push(Buffer.from('"}}'));
    expect(finder.id?.length).toBeLessThan(1000);
  });
});
