import type { ReasonCode } from '../../domain/reasons.js';
import { RealtimeProtocolError, RealtimeSessionError } from '../../speech/realtime/realtime-error.js';
import type { RealtimeSession } from '../../speech/realtime/session/session.js';
import type { SessionReport } from '../../speech/realtime/session/session-report.js';

/** How a captured session ended. */
export interface SessionEnd {
  readonly report: SessionReport;
  /** Stable code for why the transcript is incomplete; null when it is complete. */
  readonly reason: string | null;
  /** Description of the reason. */
  readonly detail: string | null;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/**
 * Sends all audio and ends the session. Does not reject for errors of the session or the audio: final segments are
 * kept. `onNote` receives messages for the user.
 */
export async function runSession(
  session: RealtimeSession,
  audio: AsyncIterable<Buffer>,
  onNote: (text: string) => void,
): Promise<SessionEnd> {
  let unread: Error | null = null;
  try {
    for await (const chunk of audio) await session.sendAudio(chunk);
  } catch (error) {
    // `end` reports a failed session; at the duration limit there is nothing more to send.
    const known = error instanceof RealtimeSessionError || error instanceof RealtimeProtocolError;
    if (!known) unread = error as Error;
  }
  try {
    const report = await end(session, onNote);
    if (unread !== null)
      return ended(report, 'audio-unreadable', `the audio could not be read to its end: ${unread.message}`);
    if (report.durationLimit === null) return ended(report, null, null);
    return ended(report, 'duration-limit', `the service accepts at most ${report.durationLimit} s of audio`);
  } catch (error) {
    if (!(error instanceof RealtimeSessionError)) throw error;
    const kind: ReasonCode = error.kind;
    return ended(error.report, error.type ?? kind, error.message);
  }
}

/** Discards a partial sample at the end, with a note, because it may be a sign of wrong format options. */
async function end(session: RealtimeSession, onNote: (text: string) => void): Promise<SessionReport> {
  try {
    return await session.end();
  } catch (error) {
    if (!(error instanceof RealtimeProtocolError) || error.code !== 'partial-sample') throw error;
    onNote('The audio ends inside a sample; check --encoding if the transcript looks wrong.');
    return session.end({ partialSample: 'discard' });
  }
}

function ended(report: SessionReport, reason: string | null, detail: string | null): SessionEnd {
  return { report, reason, detail, finishedAt: new Date().toISOString() };
}
