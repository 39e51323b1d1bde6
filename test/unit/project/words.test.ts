import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');

/** Words that were left for those of docs/glossary.md, or for plainer ones. */
const LEFT = [
  /\bended by (?:its |their |the )?(?:age|retention)\b/i,
  /\btells? of\b/i,
  /\btold\b/i,
  /\btroubles?\b(?!\.test)/i,
  /\b(?:a|the|each|every|last) looks?\b/i,
  /\bstrangers?\b/i,
  /\bknock/i,
  /\bshel(?:f|ves)\b/i,
  /\banew\b/i,
  /\bin vain\b/i,
  /\bleftovers?\b/i,
  /\bput right\b/i,
  /\bl(?:ies?|ay)\b/i,
  /\bof which\b/i,
  /\bfor ever\b/i,
  /\b(?:between|several|two|more|or) looks?\b/i,
  /\bwhoever\b/i,
  /(?:\/\*\*|\/\/|^ *\*|[.:;]) [Ww]ho (?:is|must|chooses|holds|stores|takes)\b/,
  /\bWhat of\b/,
  /\bby (?:its|their) age\b/i,
];

const files = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...['src', 'docs', 'deploy'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
].filter((file) => /\.(?:ts|js|html|md|ya?ml)$/.test(file) && !file.includes('/vendor/'));

describe('words that were left', () => {
  it.each(LEFT.map((word) => [word.source, word] as const))(
    '%s is in no source and no document',
    (_, word) => {
      const found = files.flatMap((file) =>
        readFileSync(join(ROOT, file), 'utf8')
          .split('\n')
          // The name of a test's file.
          .filter((line) => word.test(line.replaceAll(/[\w/]+-trouble\b/g, '')))
          .map((line) => `${file}: ${line.trim().slice(0, 120)}`),
      );
      expect(found).toEqual([]);
    },
  );
});
