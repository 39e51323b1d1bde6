import { ITEM_KINDS, KINDS } from '../../../src/domain/kinds.js';

const code = (text: string) => `\`${text}\``;

/** The table of docs/store-layout.md, "Kinds". */
export function kindsTable(): string {
  const rows = ITEM_KINDS.map((kind) => {
    const { tokens, file, mediaType, retention } = KINDS[kind];
    return [
      code(kind),
      tokens.map(code).join(', ') || 'every other name',
      file === null ? '[see below](#names)' : code(file),
      mediaType === null ? "the sender's" : code(mediaType),
      code(retention),
    ];
  });
  return [
    ['kind', '`contents`, part name', 'file', 'content type', 'retention class, tag `kind`'],
    ['---', '---', '---', '---', '---'],
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}
