import { describe, expect, it } from '@jest/globals';
import { runSession } from '../../../../src/cli/capture/run-session.js';
import { silence, withSimulator } from '../../../support/realtime.js';

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from(silence(3));
  throw new Error('EIO: device gone');
}

describe('a captured session', () => {
  it('ends properly and counts as incomplete when the audio cannot be read on', () =>
    withSimulator({}, async (_simulator, start) => {
      const { report, reason, detail } = await runSession(await start(), failing(), () => {});
      expect({ reason, complete: report.complete, bytes: report.sent.bytes }).toEqual({
        reason: 'audio-unreadable',
        complete: true,
        bytes: 96_000,
      });
      expect(detail).toContain('device gone');
      expect(report.segments[0]?.text).toBe('Welcome to this call we are glad. ');
    }));
});
