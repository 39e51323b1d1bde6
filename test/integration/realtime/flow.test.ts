import { describe, expect, it } from '@jest/globals';
import { RealtimeSessionError } from '../../../src/speech/realtime/realtime.js';
import { failure, PCM_BYTES_PER_SECOND, silence, withSimulator } from '../../support/realtime.js';

/** A service that reads next to nothing until `process` is called. */
const HELD = { processing: 'manual', limits: { bufferSeconds: 0.01 } } as const;

describe('audio flow', () => {
  // Rule: Realtime: Limits: 10 s of audio ahead of AudioAdded
  it('keeps at most 10 s of raw audio unacknowledged and makes the caller wait', () =>
    withSimulator(HELD, async (simulator, start) => {
      const session = await start({ audio: { frameBytes: PCM_BYTES_PER_SECOND } });
      let settled = false;
      const sending = session.sendAudio(silence(30)).then(() => {
        settled = true;
      });
      const service = await simulator.session(0);
      const acknowledged = new Promise((resolve) => session.on('AudioAdded', resolve));
      await acknowledged;
      for (let second = 0; second < 30; second += 1) {
        const { sent, acknowledged: heard } = session.report();
        expect((sent.seconds ?? 0) - (heard.seconds ?? 0)).toBeLessThanOrEqual(10);
        if (heard.frames < 20) expect(settled).toBe(false);
        if (heard.frames === 30) break;
        const next = new Promise((resolve) => session.on('AudioAdded', resolve));
        service.process(1);
        await next;
      }
      await sending;
      service.process(1);
      expect(await session.end()).toMatchObject({
        complete: true,
        acknowledged: { frames: 30, seconds: 30 },
      });
    }));

  // Rule: Realtime: Limits: 500 frames ahead of AudioAdded
  it('keeps at most 500 frames unacknowledged', () =>
    withSimulator({ processing: 'manual', limits: { bufferSeconds: 0.0001 } }, async (simulator, start) => {
      const session = await start();
      const sending = (async () => {
        for (let frame = 0; frame < 700; frame += 1) await session.sendAudio(new Uint8Array(4));
      })();
      const service = await simulator.session(0);
      let most = 0;
      session.on('AudioAdded', () => {
        const { sent, acknowledged } = session.report();
        most = Math.max(most, sent.frames - acknowledged.frames);
        service.process(4 / PCM_BYTES_PER_SECOND);
      });
      await sending;
      expect(most).toBeLessThanOrEqual(500);
      expect(most).toBeGreaterThan(450);
      session.abort();
    }));

  // Rule: Realtime: Limits: file audio of unknown duration
  it('bounds a file by bytes, because its duration is unknown', () =>
    withSimulator(HELD, async (_simulator, start) => {
      const session = await start({
        audioFormat: { type: 'file' },
        audio: { unacknowledgedFileBytes: 65_536 },
      });
      const sending = session.sendAudio(new Uint8Array(300_000));
      await new Promise((resolve) => session.on('AudioAdded', resolve));
      expect(session.report().sent.bytes - session.report().acknowledged.bytes).toBeLessThanOrEqual(65_536);
      session.abort();
      await failure(RealtimeSessionError, sending);
    }));

  // Rule: Realtime: Errors: a dead session reports what was acknowledged and final
  it('rejects waiting audio when the session dies', () =>
    withSimulator(HELD, async (_simulator, start) => {
      const session = await start();
      const sending = session.sendAudio(silence(20));
      session.abort('enough');
      expect(await failure(RealtimeSessionError, sending)).toMatchObject({
        kind: 'aborted',
        message: 'enough',
      });
      expect(await failure(RealtimeSessionError, session.sendAudio(silence(1)))).toMatchObject({
        kind: 'aborted',
      });
    }));

  // Rule: Realtime: Limits: not faster than the service takes it
  it('never overruns a service that works in real time, whatever the caller does', () =>
    withSimulator({ processing: 400, limits: { bufferSeconds: 2 } }, async (_simulator, start) => {
      const session = await start();
      const report = await session.stream(Array.from({ length: 12 }, () => silence(5)));
      expect(report).toMatchObject({ complete: true, acknowledged: { seconds: 60 } });
    }));
});
