import { h } from '../lib/dom.js';
import { isConflict, isTranscript } from '../lib/job-state.js';
import { TRANSCRIPT_KINDS } from '../lib/transcript-loader.js';
import { kindInWords } from '../lib/words.js';
import { mediaPlayer } from './media-player.js';
import { transcriptText } from './transcript-text.js';

/** The transcript in the page, with its media beside it. */
export function createTranscriptReader(contentOf, downloads, redraw) {
  let chosen = null;

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
  return (
    Number(isConflict(a)) - Number(isConflict(b)) ||
    TRANSCRIPT_KINDS.indexOf(a.kind) - TRANSCRIPT_KINDS.indexOf(b.kind)
  );
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
