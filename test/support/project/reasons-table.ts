import { REASONS, type Reason } from '../../../src/domain/reasons.js';

const EXPLAIN = {
  address: 'at once',
  forwarding: 'where its `X-Forwarded-For` was kept',
  headers: 'with the headers of the sender, which you add',
} as const;

/** The table of docs/reasons.md, the reasons without a remedy, and what Explain can check again. */
export function reasonsTable(): string {
  const entries = Object.entries<Reason>(REASONS);
  const rows = entries.flatMap(([code, { words, remedy }]) =>
    remedy === null ? [] : [`| \`${code}\` | ${words} | ${remedy} |`],
  );
  const others = entries.flatMap(([code, { words, remedy }]) =>
    remedy === null ? [`- \`${code}\`: ${words}`] : [],
  );
  const explained = Object.entries(EXPLAIN).map(([needed, text]) => {
    const codes = entries.filter(([, { explain }]) => explain === needed).map(([code]) => `\`${code}\``);
    return `- ${text}: ${codes.join(', ')}`;
  });
  return [
    ...['| code | meaning | what to do |', '|---|---|---|', ...rows, ''],
    ...['Without a remedy:', '', ...others, ''],
    ...['*Explain* checks a rejected request again:', '', ...explained, ''],
  ].join('\n');
}
