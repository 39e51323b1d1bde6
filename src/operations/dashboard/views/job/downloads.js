import { fetchRaw } from '../../lib/api/admin-api.js';
import { saveFile } from '../../lib/elements/dom.js';

/**
 * Path of an artefact below the admin API, by its key.
 * @param {string} jobId @param {string} key @returns {`/jobs/${string}/artefacts/${string}`}
 */
export function pathOf(jobId, key) {
  return `/jobs/${encodeURIComponent(jobId)}/artefacts/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * Has the browser save an artefact. A link could not send the token.
 * @param {string} jobId @param {string} key @param {AbortSignal} signal
 */
export async function saveArtefact(jobId, key, signal) {
  const response = await fetchRaw(pathOf(jobId, key), signal);
  const [, name = ''] =
    /filename\*=UTF-8''(\S+)/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  saveFile(decodeURIComponent(name), await response.blob());
}
