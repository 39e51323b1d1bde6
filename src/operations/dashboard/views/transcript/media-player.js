import { h } from '../../lib/elements/dom.js';

/** @import { Artefact, ServiceRecord } from '../../lib/api/api-answers.js' */
/** @import { Downloads } from '../job/downloads.js' */

/** The media of a job. Updates do not touch it, so that it keeps playing. */

const VIDEO_NAME = /\.(mp4|m4v|mov|mkv|webm|avi|mpe?g)$/i;

/** @param {Artefact} artefact @param {ServiceRecord | null} service @param {Downloads} downloads */
export function mediaPlayer({ key, contentType }, service, downloads) {
  const isVideo =
    contentType.startsWith('video/') || VIDEO_NAME.test(String(service?.record?.data_name ?? ''));
  const media = h(isVideo ? 'video' : 'audio', {
    id: 'media',
    controls: true,
    preload: 'metadata',
    'aria-label': 'Media of the job',
    src: downloads.address(key),
  });
  const fault = h('p', { class: 'quiet', role: 'status' });
  media.onerror = () => renewOnce(media, key, downloads, fault);
  media.ontimeupdate = () => markWord(media.currentTime);
  return h('div', { class: 'player', 'data-key': 'player', 'data-keep': key }, media, fault);
}

/**
 * Plays from a position in seconds.
 * @param {number} seconds
 */
export function seek(seconds) {
  const media = document.getElementById('media');
  if (!(media instanceof HTMLMediaElement)) return;
  media.currentTime = seconds;
  media.play().catch(() => {});
}

/**
 * The ticket in the address may have expired during playback: retried once with a new one.
 * @param {HTMLMediaElement} media @param {string} key @param {Downloads} downloads @param {HTMLElement} fault
 */
async function renewOnce(media, key, downloads, fault) {
  const at = media.currentTime;
  if (media.dataset.renewed === undefined) {
    media.dataset.renewed = '';
    await downloads.renew({ force: true }).catch(() => {});
    media.src = downloads.address(key);
    media.currentTime = at;
    return;
  }
  fault.textContent = 'This browser cannot play the media. Download it under Artefacts.';
}

/** @param {number} seconds */
function markWord(seconds) {
  /** @type {NodeListOf<HTMLElement>} */
  const words = document.querySelectorAll('.transcript .word');
  /** @type {HTMLElement | undefined} */
  let current;
  let from = 0;
  let to = words.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (Number(words[middle]?.dataset.start) <= seconds) {
      current = words[middle];
      from = middle + 1;
    } else to = middle;
  }
  const before = document.querySelector('.word.now');
  if (current !== undefined && before === current) return;
  before?.classList.remove('now');
  current?.classList.add('now');
}
