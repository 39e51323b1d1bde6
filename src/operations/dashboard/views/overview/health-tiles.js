import { whyUnknown } from '../../lib/text/why-unknown.js';
import { describeIssue } from '../../vendor/issues/describe-issue.js';
import { healthFacts } from './health-facts.js';
import { TONES } from './verdict-banner.js';

/** @import { Health, Topic, Unknowable } from '../../lib/api/api-answers.js' */
/** @import { Tone } from '../../lib/elements/status.js' */
/** @import { Action, Facts } from './tile-parts.js' */

/**
 * @typedef {object} Tile
 * @property {Topic} id
 * @property {string} title
 * @property {Tone} tone
 * @property {string} word
 * @property {string} figure
 * @property {string[]} details lines of text
 * @property {Action} action
 */

/**
 * One tile for each topic of the verdict: the facts, and the level and label of its issues.
 * @param {Health} health @param {number} now @returns {Tile[]}
 */
export function healthTiles(health, now) {
  return healthFacts(health, now).map((facts) => tileOf(facts, health, now));
}

/** The member of the summary that each tile shows. @type {Partial<Record<Topic, Unknowable>>} */
const MEMBERS = {
  callbacks: 'callbacks',
  quarantine: 'quarantine',
  failures: 'failing',
  expected: 'reconcile',
  reconcile: 'reconcile',
  verify: 'verify',
  subscribers: 'subscribers',
};

/** Issues that say why figures are unknown: the tiles do not repeat it. @type {ReadonlySet<string>} */
const EXPLAINED_IN_BANNER = new Set([
  'store-not-writable',
  'store-unreadable',
  'ledger-unreadable',
  'ledger-loading',
]);

/** @param {Facts} facts @param {Pick<Health, 'verdict' | 'unknown'>} health @param {number} now @returns {Tile} */
function tileOf({ isNeutral = false, action, ...facts }, { verdict, unknown }, now) {
  const { id, title } = facts;
  const meaning = { href: `#/help/${id}`, text: 'What this means' };
  const issue = verdict.issues.find(({ topic }) => topic === id);
  if (issue !== undefined) {
    const { label } = describeIssue(issue);
    return { ...facts, tone: TONES[issue.level], word: label, action: action ?? meaning };
  }
  const member = MEMBERS[id];
  const why = member && unknown[member];
  if (why !== undefined) {
    const isExplained = verdict.issues.some(({ code }) => EXPLAINED_IN_BANNER.has(code));
    const details = isExplained ? [] : whyUnknown(why, now);
    return { id, title, tone: 'neutral', word: 'Unknown', figure: '–', details, action: meaning };
  }
  return { ...facts, tone: isNeutral ? 'neutral' : 'good', action: action ?? meaning };
}
