/**
 * @typedef {object} Route
 * @property {string} name
 * @property {string} id of the job, quarantined body, replay or topic; empty where the view has none
 * @property {string | null} section entry of the navigation
 * @property {URLSearchParams} query
 */

/** Addresses within the page: `#/jobs/<id>?x=y`. */

/** @type {[name: string, path: RegExp][]} */
const ROUTES = [
  ['overview', /^\/?(?:overview)?$/],
  ['summary', /^\/summary$/],
  ['deliveries', /^\/deliveries$/],
  ['search', /^\/search$/],
  ['job', /^\/jobs\/([^/]+)$/],
  ['failures', /^\/failures$/],
  ['quarantined-body', /^\/quarantine\/([^/]+)$/],
  ['replays', /^\/replays$/],
  ['replay', /^\/replays\/([^/]+)$/],
  ['reconcile', /^\/reconcile$/],
  ['subscribers', /^\/subscribers$/],
  ['refusals', /^\/refusals$/],
  ['explain', /^\/explain$/],
  ['help', /^\/help(?:\/([^/]+))?$/],
];

/** The entry of the navigation that a view belongs to. */
const SECTION = new Map(
  Object.entries({
    summary: 'overview',
    job: 'deliveries',
    search: 'deliveries',
    'quarantined-body': 'failures',
    replay: 'replays',
    reconcile: 'replays',
  }),
);

/** @param {string} hash @returns {Route} */
export function parseRoute(hash) {
  const [path = '', search] = hash.replace(/^#/, '').split('?');
  for (const [name, pattern] of ROUTES) {
    const found = pattern.exec(path);
    if (found !== null) {
      const id = decoded(found[1]);
      return { name, id, section: SECTION.get(name) ?? name, query: new URLSearchParams(search) };
    }
  }
  return { name: 'not-found', id: '', section: null, query: new URLSearchParams() };
}

/**
 * Address of a view; empty parameters are left out.
 * @param {string} path @param {Record<string, string | null | undefined>} [query]
 */
export function to(path, query = {}) {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return `#/${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

/** @param {string} jobId */
export function toJob(jobId) {
  return to(`jobs/${encodeURIComponent(jobId)}`);
}

/** @param {string} replayId */
export function toReplay(replayId) {
  return to(`replays/${encodeURIComponent(replayId)}`);
}

/** @param {string | undefined} text */
function decoded(text) {
  if (text === undefined) return '';
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
