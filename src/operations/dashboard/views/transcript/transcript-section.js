import { switchButtons } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { clock } from '../../lib/text/format.js';
import { kindInWords } from '../../lib/text/ledger-terms.js';
import { isTranscript } from '../../vendor/kinds.js';
import { isConflict, otherVersions } from '../../vendor/next-steps.js';
import { mediaPlayer } from './media-player.js';
import { TRANSCRIPT_KINDS, versionOf } from './transcript-loader.js';
import { transcriptText } from './transcript-text.js';

/** @import { Artefact, ServiceRecord } from '../../lib/api/api-answers.js' */
/** @import { Downloads } from '../job/downloads.js' */
/** @import { ContentOf, TranscriptContent } from './transcript-loader.js' */

/**
 * The transcript of a job with its media.
 * @param {ContentOf} contentOf @param {Downloads} downloads @param {() => void} redraw
 */
export function createTranscriptSection(contentOf, downloads, redraw) {
  /** @type {string | null} */
  let chosen = null;

  /** @param {string} key */
  function choose(key) {
    chosen = key;
    redraw();
  }

  /** @param {readonly Artefact[]} artefacts @param {ServiceRecord | null} service */
  return (artefacts, service) => {
    const transcripts = [
      ...artefacts.filter((artefact) => !isConflict(artefact)),
      ...otherVersions(artefacts),
    ]
      .filter(isTranscript)
      .sort(byKind);
    const media = artefacts.find((artefact) => artefact.kind === 'data' && !isConflict(artefact));
    if (transcripts.length === 0 && media === undefined) return null;
    const shown = transcripts.find(({ key }) => key === chosen) ?? transcripts[0];
    return section(
      {
        id: 'transcript',
        title: 'Transcript',
        beside: shown && transcripts.length > 1 && formats(transcripts, shown, choose),
      },
      media && mediaPlayer(media, service, downloads),
      shown
        ? body(shown, contentOf(shown), media !== undefined)
        : h('p', { class: 'quiet' }, 'No transcript is stored, only media.'),
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

/** @param {Artefact} artefact @param {TranscriptContent} content @param {boolean} hasMedia */
function body(artefact, { read, note }, hasMedia) {
  if (read === undefined) return h('p', { class: 'quiet', 'data-key': 'note' }, note);
  return transcriptText(read, versionOf(artefact), hasMedia);
}
