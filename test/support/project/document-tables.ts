import { kindsTable } from './kinds-table.js';
import { reasonsTable } from './reasons-table.js';

/** Tables of documents that are made from src/domain. */
export const DOCUMENT_TABLES = [
  { document: 'docs/store-layout.md', name: 'kinds', table: kindsTable },
  { document: 'docs/reasons.md', name: 'reasons', table: reasonsTable },
] as const;

/** A document with the table between its two markers replaced. */
export function withTable(text: string, name: string, table: string): string {
  const [begin, end] = [
    `<!-- generated from src/domain/${name}.ts: npm run docs:tables -->\n`,
    `<!-- end of ${name} -->`,
  ];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`there is no place for the table ${name}`);
  return `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
}
