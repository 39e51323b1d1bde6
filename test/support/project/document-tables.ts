import { issuesTable } from './issues-table.js';
import { kindsTable } from './kinds-table.js';

/** Tables of documents that are made from a module of src. */
export const DOCUMENT_TABLES = [
  { document: 'docs/store-layout.md', module: 'domain/kinds', table: kindsTable },
  { document: 'docs/operations.md', module: 'operations/issues/issue-kinds', table: issuesTable },
] as const;

/** A document with the table between its two markers replaced. */
export function withTable(text: string, module: string, table: string): string {
  const [begin, end] = [
    `<!-- generated from src/${module}.ts: npm run docs:tables -->\n`,
    `<!-- end of ${module.slice(module.lastIndexOf('/') + 1)} -->`,
  ];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`there is no place for the table of ${module}`);
  return `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
}
