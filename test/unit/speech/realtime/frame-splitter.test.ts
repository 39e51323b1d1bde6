import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameSplitter } from '../../../../src/speech/realtime/audio-sender.js';

describe('the frame splitter', () => {
  // Rule: Realtime: AudioType: `pcm_f32le` 4 bytes, `pcm_s16le` 2, `mulaw` 1
  it('gives whole samples in bounded frames, every byte once and in order, however chunks are cut', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        chunks,
        fc.constantFrom(1, 2, 4),
        fc.integer({ min: 1, max: 33 }),
        (input, sample, most) => {
          const splitter = new FrameSplitter(sample, most);
          const frames = input.flatMap((chunk) => [...splitter.split(chunk)].map((frame) => frame.slice()));
          for (const frame of frames) {
            expect(frame.length % sample).toBe(0);
            expect(frame.length).toBeGreaterThan(0);
            expect(frame.length).toBeLessThanOrEqual(Math.max(most, sample));
          }
          const all = Buffer.concat(input);
          expect(Buffer.concat(frames)).toEqual(all.subarray(0, all.length - (all.length % sample)));
          expect(splitter.restBytes).toBe(all.length % sample);
        },
      ),
    );
  });

  it('does not copy chunks that begin with a sample', () => {
    const chunk = new Uint8Array(8);
    const [frame] = new FrameSplitter(2, 100).split(chunk);
    expect(frame?.buffer).toBe(chunk.buffer);
  });
});
