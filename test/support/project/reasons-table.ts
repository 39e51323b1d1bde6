import { REASONS, type Reason } from '../../../src/domain/reasons.js';

const EXPLAIN = {
  address: 'runs',
  forwarding: 'runs where `X-Forwarded-For` was kept',
  headers: 'with the headers of the sender',
} as const;

/** The table of docs/reasons.md. */
export function reasonsTable(): string {
  const rows = Object.entries<Reason>(REASONS).map(
    ([code, { words, remedy, explain }]) =>
      `| \`${code}\` | ${words} | ${remedy ?? ''} | ${explain === undefined ? '' : EXPLAIN[explain]} |`,
  );
  return ['| code | meaning | what to do | Explain |', '|---|---|---|---|', ...rows, ''].join('\n');
}
