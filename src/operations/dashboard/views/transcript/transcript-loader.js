import { fetchRaw } from '../../lib/api/admin-api.js';
import { describeProblem } from '../../lib/api/describe-problem.js';
import { bytes } from '../../lib/text/format.js';
import { own } from '../../lib/text/ledger-terms.js';
import { pathOf } from '../job/downloads.js';
import { readJsonTranscript, readSrtTranscript, readTextTranscript } from './read-transcript.js';

/** @import { Artefact } from '../../lib/api/api-answers.js' */
/** @import { TranscriptKind } from '../../vendor/kinds.js' */
/** @import { Transcript } from './read-transcript.js' */

/**
 * @typedef {{read: Transcript, note?: undefined} | {note: string, read?: undefined}} TranscriptContent
 * @typedef {(artefact: Artefact) => TranscriptContent} ContentOf
 */

/** @type {Record<TranscriptKind, (text: string) => Transcript | null>} */
const READERS = {
  'transcript.json-v2': readJsonTranscript,
  'transcript.srt': readSrtTranscript,
  'transcript.txt': readTextTranscript,
};
/** Kinds that can be shown, the most detailed first. */
export const TRANSCRIPT_KINDS = Object.keys(READERS);
/** Larger transcripts are not shown in the page. */
const MAX_BYTES = 24 * 1024 * 1024;

/**
 * Tells versions of an artefact apart: an operator may choose another one for the same key.
 * @param {Artefact} artefact
 */
export function versionOf({ key, sha256, storedAt }) {
  return `${key} ${sha256 ?? storedAt}`;
}

/**
 * Fetches each version of a transcript once. The function it returns gives the transcript, or a note
 * while there is none; `redraw` is called when that changes.
 * @param {string} jobId @param {AbortSignal} signal @param {() => void} redraw @returns {ContentOf}
 */
export function createTranscriptLoader(jobId, signal, redraw) {
  /** @type {Map<string, TranscriptContent>} */
  const fetched = new Map();

  /** @param {Artefact} artefact @returns {Promise<TranscriptContent>} */
  async function load(artefact) {
    const { key, kind, size } = artefact;
    if (size > MAX_BYTES)
      return { note: `At ${bytes(size)} it is too large to show here. Download it instead.` };
    try {
      const text = await (await fetchRaw(pathOf(jobId, key), signal)).text();
      const read = own(READERS, kind)?.(text);
      return read === null || read === undefined
        ? { note: 'The content is not a transcript of this kind. Download it to inspect it.' }
        : { read };
    } catch (error) {
      fetched.delete(versionOf(artefact));
      const { message, advice } = describeProblem(error);
      return { note: `${message} ${advice}` };
    }
  }

  return (artefact) => {
    const version = versionOf(artefact);
    const known = fetched.get(version);
    if (known !== undefined) return known;
    const loading = { note: 'Loading…' };
    fetched.set(version, loading);
    load(artefact).then((content) => {
      fetched.set(version, content);
      if (!signal.aborted) redraw();
    });
    return loading;
  };
}
