import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FlowWindow } from '../../../../src/speech/realtime/flow-window.js';

describe('the flow window', () => {
  it('admits as many frames as may be unacknowledged, and one more after an acknowledgement', () => {
    const window = new FlowWindow({ frames: 2, bytes: 1000 });
    window.add(1);
    expect(window.admits(1)).toBe(true);
    window.add(1);
    expect(window.admits(1)).toBe(false);
    window.acknowledge(1);
    expect(window.admits(1)).toBe(true);
  });

  // Rule: Realtime: Limits: whichever is lower
  it('admits bytes up to the limit, whichever limit is lower', () => {
    const window = new FlowWindow({ frames: 500, bytes: 10 });
    window.add(6);
    expect(window.admits(4)).toBe(true);
    expect(window.admits(5)).toBe(false);
  });

  it('sends a frame larger than the limit alone', () => {
    expect(new FlowWindow({ frames: 1, bytes: 10 }).admits(11)).toBe(true);
  });

  it('takes repeated acknowledgements as nothing new and a later one for all before it', () => {
    const window = new FlowWindow({ frames: 500, bytes: 1000 });
    for (const bytes of [1, 2, 3, 4]) window.add(bytes);
    expect(window.acknowledge(3)).toBe(true);
    expect(window.acknowledge(2)).toBe(true);
    expect(window.acknowledged).toEqual({ frames: 3, bytes: 6 });
  });

  // Rule: Realtime: Server-to-client messages: `AudioAdded`: `seq_no` counts from 1
  it.each([0, -1, 3])('knows no frame %i of two', (seqNo) => {
    const window = new FlowWindow({ frames: 500, bytes: 1000 });
    window.add(1);
    window.add(1);
    expect(window.acknowledge(seqNo)).toBe(false);
    expect(window.acknowledged).toEqual({ frames: 0, bytes: 0 });
  });

  // Rule: Realtime: Limits: whichever is lower
  it('never lets more than the limits be in flight, and accounts for every byte', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant('ack' as const)), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, (sequence) => {
        const window = new FlowWindow({ frames: 5, bytes: 100 });
        const sizes: number[] = [];
        for (const step of sequence) {
          if (step === 'ack') window.acknowledge(window.acknowledged.frames + 1);
          else if (window.admits(step)) {
            window.add(step);
            sizes.push(step);
          }
          const { sent, acknowledged } = window;
          expect(sent.frames - acknowledged.frames).toBeLessThanOrEqual(5);
          expect(sent.bytes - acknowledged.bytes).toBeLessThanOrEqual(100);
          const sum = (count: number) => sizes.slice(0, count).reduce((total, size) => total + size, 0);
          expect([sent.bytes, acknowledged.bytes]).toEqual([sum(sent.frames), sum(acknowledged.frames)]);
        }
      }),
    );
  });
});
