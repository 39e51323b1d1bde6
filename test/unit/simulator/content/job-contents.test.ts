import { describe, expect, it } from '@jest/globals';
import { RETRIEVABLE_KINDS } from '../../../../src/domain/kinds.js';
import { systemClock } from '../../../../src/lib/time/clock.js';
import { decodeBody } from '../../../../src/receive/decode/decode-body.js';
import { contentBytes } from '../../../../src/simulator/content/content.js';
import { jobContent } from '../../../../src/simulator/content/job-contents.js';
import { LANGUAGE_CODES } from '../../../../src/simulator/content/vocabulary.js';
import { createJobStore } from '../../../../src/simulator/jobs/job-store.js';
import type { TranscriptV2 } from '../../../../src/speech/wire.js';
import { RecordingSink } from '../../../support/store/recording-sink.js';

const store = createJobStore({ seed: 'contents', clock: systemClock });

function job(language: string, words = 40) {
  return store.create({
    region: 'eu1',
    words,
    config: { type: 'transcription', transcription_config: { language } },
  });
}

describe.each(LANGUAGE_CODES)('a transcript in %s', (language) => {
  it('has words in order of time, within the media, and says the same in every format', async () => {
    const made = job(language);
    const transcript = JSON.parse(
      (await contentBytes(jobContent(made, 'transcript.json-v2'))).toString('utf8'),
    ) as TranscriptV2;
    const words = transcript.results.filter(({ type }) => type === 'word');
    expect(words).toHaveLength(40);
    expect(transcript.job.id).toBe(made.id);
    let before = 0;
    for (const { start_time, end_time } of words) {
      expect(start_time).toBeGreaterThanOrEqual(before);
      expect(end_time).toBeGreaterThan(start_time);
      before = end_time;
    }
    expect(before).toBeLessThanOrEqual(made.duration);
    const text = (await contentBytes(jobContent(made, 'transcript.txt'))).toString('utf8');
    const spoken = transcript.results.map(({ alternatives }) => alternatives?.[0]?.content ?? '');
    expect(text.replaceAll(' ', '')).toBe(spoken.join(''));
    const srt = (await contentBytes(jobContent(made, 'transcript.srt'))).toString('utf8');
    const cues = srt.split('\n').filter((line) => line !== '' && !/^\d+$|-->/.test(line));
    expect(cues.join('').replaceAll(' ', '')).toBe(spoken.join(''));
    expect(srt).toMatch(/^1\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\n/);
  });
});

describe('contents of a job', () => {
  it.each(RETRIEVABLE_KINDS)('that comes alone is told to be %s', async (kind) => {
    const { contentType, chunks } = jobContent(job('en'), kind);
    const sink = new RecordingSink();
    const headers = { contentType, contentEncoding: null, contentLength: null, contents: [kind] };
    await decodeBody(headers, chunks(), sink, { maxBytes: 2 ** 30 });
    expect(sink.items.map(({ identity }) => identity?.kind)).toEqual([kind]);
  });

  it('are the same bytes every time', async () => {
    const made = job('ja');
    const twice = await Promise.all([1, 2].map(() => contentBytes(jobContent(made, 'transcript.json-v2'))));
    expect(twice[0]?.equals(twice[1] ?? Buffer.alloc(0))).toBe(true);
  });

  it('may be silent', async () => {
    const made = job('en', 0);
    const bytes = await contentBytes(jobContent(made, 'transcript.json-v2'));
    expect((JSON.parse(bytes.toString()) as TranscriptV2).results).toEqual([]);
    expect(jobContent(made, 'transcript.txt').size).toBe(0);
  });
});
