import { REASONS, type Reason } from '../../../src/domain/reasons.js';

/** From how many reasons on a remedy has a list of its own. */
const SHARED = 3;

const entries = Object.entries<Reason>(REASONS);

/** The lists of docs/reasons.md: each reason with its remedy, then those that share one, then those without. */
export function reasonsTable(): string {
  const remedies = [...new Set(entries.flatMap(([, { remedy }]) => remedy ?? []))];
  const shared = remedies.filter((remedy) => itemsOf(remedy).length >= SHARED);
  const own = remedies.filter((remedy) => !shared.includes(remedy));
  return [
    ...own.flatMap((remedy) => itemsOf(remedy).map((item) => `${item}. ${remedy}`)),
    ...shared.flatMap((remedy) => ['', `**${remedy}**`, '', ...itemsOf(remedy)]),
    ...['', 'Without a remedy:', '', ...itemsOf(null), ''],
  ].join('\n');
}

const itemsOf = (remedy: string | null) =>
  entries.flatMap(([code, reason]) => (reason.remedy === remedy ? [`- \`${code}\`: ${reason.words}`] : []));
