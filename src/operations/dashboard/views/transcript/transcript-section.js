import { switchButtons } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { clock } from '../../lib/text/format.js';
import { kindInWords } from '../../lib/text/ledger-terms.js';
import { isTranscript } from '../../vendor/kinds.js';
import { isConflict, otherVersions } from '../../vendor/next-steps.js';
import { TRANSCRIPT_KINDS, versionOf } from './transcript-loader.js';
import { transcriptText } from './transcript-text.js';

/** @import { Artefact } from '../../lib/api/api-answers.js' */
/** @import { ContentOf, TranscriptContent } from './transcript-loader.js' */

/**
 * The transcript of a job, in one of its formats and versions.
 * @param {ContentOf} contentOf @param {() => void} redraw
 */
export function createTranscriptSection(contentOf, redraw) {
  /** @type {string | null} */
  let chosen = null;

  /** @param {string} key */
  function choose(key) {
    chosen = key;
    redraw();
  }

  /** @param {readonly Artefact[]} artefacts */
  return (artefacts) => {
    const transcripts = [
      ...artefacts.filter((artefact) => !isConflict(artefact)),
      ...otherVersions(artefacts),
    ]
      .filter(isTranscript)
      .sort(byKind);
    const shown = transcripts.find(({ key }) => key === chosen) ?? transcripts[0];
    if (shown === undefined) return null;
    return section(
      {
        id: 'transcript',
        title: 'Transcript',
        beside: transcripts.length > 1 && formats(transcripts, shown, choose),
      },
      body(shown, contentOf(shown)),
    );
  };
}

/** @param {Artefact} a @param {Artefact} b */
function byKind(a, b) {
  return (
    Number(isConflict(a)) - Number(isConflict(b)) ||
    TRANSCRIPT_KINDS.indexOf(a.kind) - TRANSCRIPT_KINDS.indexOf(b.kind)
  );
}

/** @param {readonly Artefact[]} transcripts @param {Artefact} shown @param {(key: string) => void} choose */
function formats(transcripts, shown, choose) {
  const options = transcripts.map((artefact) => ({
    key: artefact.key,
    text: labelOf(artefact),
    isPressed: artefact === shown,
  }));
  return switchButtons('Which transcript', options, choose);
}

/** @param {Artefact} artefact */
function labelOf(artefact) {
  const name = kindInWords(artefact.kind).replace(/^transcript \((.*)\)$/, '$1');
  return isConflict(artefact) ? `${name}, other: ${clock(artefact.storedAt)}` : name;
}

/** @param {Artefact} artefact @param {TranscriptContent} content */
function body(artefact, { read, note }) {
  if (read === undefined) return h('p', { class: 'quiet', 'data-key': 'note' }, note);
  return transcriptText(read, versionOf(artefact));
}
