import { isoTime, type SimulatedJob } from '../jobs/simulated-job.js';
import { bufferContent, type Content } from './content.js';
import { speak } from './speech.js';
import { jsonTranscript, srtTranscript, textTranscript } from './transcript.js';
import { findLanguage } from './vocabulary.js';

/** The five things a job can hand out; `transcript` is another name of the first. */
export const JOB_ITEMS = [
  'transcript.json-v2',
  'transcript.txt',
  'transcript.srt',
  'jobinfo',
  'data',
] as const;
export type JobItem = (typeof JOB_ITEMS)[number];

export function isJobItem(text: string): text is JobItem {
  return (JOB_ITEMS as readonly string[]).includes(text);
}

/** The item a `contents` token stands for, or null for an unknown token. */
export function itemOfToken(token: string): JobItem | null {
  if (token === 'transcript') return 'transcript.json-v2';
  return isJobItem(token) ? token : null;
}

/** The exact bytes of an item: the same in callbacks, in the API's answers, and every time it is asked. */
export function jobContent(job: SimulatedJob, item: JobItem): Content {
  if (item === 'data') return job.media;
  if (item === 'jobinfo') return bufferContent(jobinfo(job), 'application/json');
  const code = job.config.transcription_config?.language ?? 'en';
  const language = findLanguage(code);
  const tokens = speak(job.id, language, job.words, job.duration);
  if (item === 'transcript.txt') return bufferContent(textTranscript(language, tokens), 'text/plain');
  if (item === 'transcript.srt') return bufferContent(srtTranscript(language, tokens), 'text/plain');
  return bufferContent(jsonTranscript(subject(job), language, tokens), 'application/json');
}

/** Undocumented in shape: the submitted configuration with what identifies the job, without a status. */
function jobinfo(job: SimulatedJob): Buffer {
  return Buffer.from(
    JSON.stringify({
      created_at: isoTime(job.createdAt),
      data_name: job.dataName,
      duration: job.duration,
      id: job.id,
      config: job.config,
    }),
  );
}

function subject(job: SimulatedJob) {
  return {
    id: job.id,
    createdAt: isoTime(job.createdAt),
    dataName: job.dataName,
    duration: job.duration,
    transcriptionConfig: job.config.transcription_config ?? { language: 'en' },
  };
}
