import { transcriptJson } from '../../speech/realtime/transcript/transcript-json.js';
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
  const json = transcriptJson(
    { ...report, id: jobId },
    {
      createdAt: new Date(receivedAt),
      finishedAt: new Date(finishedAt),
      dataName,
      ...(detail === null ? {} : { incompleteReason: detail }),
    },
  );
  return [
    { kind: 'transcript.json-v2', contentType: 'application/json', content: JSON.stringify(json) },
    {
      kind: 'transcript.txt',
      contentType: 'text/plain; charset=utf-8',
      content: transcriptText(report.segments),
    },
  ];
}
