import type { RetrievableKind } from '../../domain/kinds.js';
import { isoTime, type SimulatedJob } from '../jobs/simulated-job.js';
import { bufferContent, type Content } from './content.js';
import { type SpokenToken, speak } from './speech.js';
import { jsonTranscript, srtTranscript, textTranscript } from './transcript.js';
import { findLanguage, type Language } from './vocabulary.js';

type Writer = (job: SimulatedJob) => Content;

const WRITERS: Readonly<Record<RetrievableKind, Writer>> = {
  'transcript.json-v2': (job) =>
    bufferContent(jsonTranscript(subject(job), languageOf(job), tokensOf(job)), 'application/json'),
  'transcript.txt': (job) => bufferContent(textTranscript(languageOf(job), tokensOf(job)), 'text/plain'),
  'transcript.srt': (job) => bufferContent(srtTranscript(languageOf(job), tokensOf(job)), 'text/plain'),
  jobinfo: (job) => bufferContent(jobinfo(job), 'application/json'),
  data: (job) => job.media,
};

/** The exact bytes of an item: the same in callbacks and in every answer of the API. */
export function jobContent(job: SimulatedJob, kind: RetrievableKind): Content {
  return WRITERS[kind](job);
}

function languageOf(job: SimulatedJob): Language {
  return findLanguage(job.config.transcription_config?.language ?? 'en');
}

function tokensOf(job: SimulatedJob): SpokenToken[] {
  return speak(job.id, languageOf(job), job.words, job.duration);
}

/** The submitted configuration with the fields that identify the job, without a status. The service does not document the shape. */
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
