/** Addresses within the page: `#/jobs/<id>?x=y`. */

const ROUTES = [
  ['overview', /^\/?$/],
  ['deliveries', /^\/deliveries$/],
  ['job', /^\/jobs\/([^/]+)$/],
  ['failures', /^\/failures$/],
  ['quarantined', /^\/quarantine\/([^/]+)$/],
  ['replays', /^\/replays$/],
  ['replay', /^\/replays\/([^/]+)$/],
  ['refusals', /^\/refusals$/],
  ['explain', /^\/explain$/],
  ['help', /^\/help\/([^/]+)$/],
];

/** The entry of the navigation that a view belongs to. */
const SECTION = { job: 'deliveries', quarantined: 'failures', replay: 'replays' };

export function parseRoute(hash) {
  const [path, search = ''] = hash.replace(/^#/, '').split('?');
  for (const [name, pattern] of ROUTES) {
    const found = pattern.exec(path);
    if (found !== null) {
      const id = decoded(found[1]);
      return { name, id, section: SECTION[name] ?? name, query: new URLSearchParams(search) };
    }
  }
  return { name: 'lost', id: null, section: null, query: new URLSearchParams() };
}

/** Address of a view; empty parameters are left out. */
export function to(path, query = {}) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  return `#/${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
}

export function toJob(jobId) {
  return to(`jobs/${encodeURIComponent(jobId)}`);
}

function decoded(text) {
  if (text === undefined) return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
