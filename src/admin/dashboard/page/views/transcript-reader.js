import { adviceFor } from '../lib/advice.js';
import { fetchRaw } from '../lib/api.js';
import { h } from '../lib/dom.js';
import { pathOf } from '../lib/downloads.js';
import { bytes } from '../lib/format.js';
import { isConflict, isTranscript } from '../lib/job-state.js';
import { readJsonTranscript, readSrtTranscript, readTextTranscript } from '../lib/transcript.js';
import { kindInWords } from '../lib/words.js';
import { mediaPlayer } from './media-player.js';
import { transcriptText } from './transcript-text.js';

const READERS = {
  'transcript.json-v2': readJsonTranscript,
  'transcript.srt': readSrtTranscript,
  'transcript.txt': readTextTranscript,
};
const ORDER = Object.keys(READERS);
/** Larger transcripts are for other tools than a page. */
const MAX_BYTES = 24 * 1024 * 1024;

/** The transcript in the page, with its media beside it. Each artefact is fetched once: it never changes. */
export function createTranscriptReader(jobId, downloads, signal, redraw) {
  const fetched = new Map();
  let chosen = null;

  function contentOf(artefact) {
    const known = fetched.get(artefact.key);
    if (known !== undefined) return known;
    fetched.set(artefact.key, { note: 'Loading…' });
    load(artefact).then((content) => {
      fetched.set(artefact.key, content);
      if (!signal.aborted) redraw();
    });
    return fetched.get(artefact.key);
  }

  async function load({ key, kind, size }) {
    if (size > MAX_BYTES)
      return { note: `With ${bytes(size)} it is too large to show here. Download it instead.` };
    try {
      const text = await (await fetchRaw(pathOf(jobId, key), signal)).text();
      const read = READERS[kind](text);
      return read === null
        ? { note: 'Its content is not a transcript of this kind. Download it to look at it.' }
        : { read };
    } catch (error) {
      fetched.delete(key);
      return { note: `${error.message} ${adviceFor(error)}` };
    }
  }

  function choose(key) {
    chosen = key;
    redraw();
  }

  return {
    section(artefacts, service) {
      const transcripts = artefacts.filter(isTranscript).sort(byKind);
      const media = artefacts.find((artefact) => artefact.kind === 'data' && !isConflict(artefact));
      if (transcripts.length === 0 && media === undefined) return null;
      const shown = transcripts.find(({ key }) => key === chosen) ?? transcripts[0];
      return h(
        'section',
        { 'aria-labelledby': 'transcript', 'data-key': 'transcript' },
        h(
          'div',
          { class: 'heading' },
          h('h2', { id: 'transcript' }, 'Transcript'),
          transcripts.length > 1 && formats(transcripts, shown, choose),
        ),
        media && mediaPlayer(media, service, downloads),
        shown
          ? body(shown, contentOf(shown), media !== undefined)
          : h('p', { class: 'quiet' }, 'No transcript is stored, only media.'),
      );
    },
  };
}

function byKind(a, b) {
  return Number(isConflict(a)) - Number(isConflict(b)) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind);
}

function formats(transcripts, shown, choose) {
  return h(
    'div',
    { class: 'switch', role: 'group', 'aria-label': 'Which transcript' },
    transcripts.map((artefact) =>
      h(
        'button',
        {
          type: 'button',
          'data-key': artefact.key,
          'aria-pressed': String(artefact === shown),
          onclick: () => choose(artefact.key),
        },
        labelOf(artefact),
      ),
    ),
  );
}

function labelOf(artefact) {
  const name = kindInWords(artefact.kind).replace(/^transcript \((.*)\)$/, '$1');
  return isConflict(artefact) ? `${name}, conflict` : name;
}

function body(artefact, { read, note }, hasMedia) {
  if (note) return h('p', { class: 'quiet', 'data-key': 'note' }, note);
  return transcriptText(read, artefact.key, hasMedia);
}
