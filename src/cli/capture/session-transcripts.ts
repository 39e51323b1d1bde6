import { transcriptJson } from '../../speech/realtime/transcript/transcript-json.js';
import { transcriptSrt } from '../../speech/realtime/transcript/transcript-srt.js';
import { transcriptText } from '../../speech/realtime/transcript/transcript-text.js';
import type { CapturedFile, SessionContext } from './archive-session.js';
import type { SessionEnd } from './run-session.js';

/**
 * The artefacts of a session.
 *
 * @param dataName name of the recording; empty when it has none
 */
export function sessionTranscripts(
  { jobId, receivedAt }: SessionContext,
  dataName: string,
  { report, detail, finishedAt }: SessionEnd,
): CapturedFile[] {
  const { segments, transcriptionConfig } = report;
  const json = transcriptJson(
    { ...report, id: jobId },
    {
      createdAt: new Date(receivedAt),
      finishedAt: new Date(finishedAt),
      dataName,
      ...(detail === null ? {} : { incompleteReason: detail }),
    },
  );
  const text = 'text/plain; charset=utf-8';
  return [
    { kind: 'transcript.json-v2', contentType: 'application/json', content: JSON.stringify(json) },
    { kind: 'transcript.txt', contentType: text, content: transcriptText(segments) },
    {
      kind: 'transcript.srt',
      contentType: text,
      content: transcriptSrt(segments, transcriptionConfig?.language),
    },
  ];
}
