import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Headings of a Markdown text as GitHub makes anchors of them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Relative links of a Markdown text, without their anchors. */
function relativeLinks(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

describe('the documentation', () => {
  it.each(documents)('%s links only to what is there', (document) => {
    const folder = dirname(join(ROOT, document));
    const broken = relativeLinks(readFileSync(join(ROOT, document), 'utf8')).filter(
      (link) => !existsSync(join(folder, decodeURIComponent(link))),
    );
    expect(broken).toEqual([]);
  });

  it.each(documents)('%s links only to headings that are there', (document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const broken = [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].filter(
      ([, target = '', anchor = '']) => {
        const page = target === '' ? document : join(dirname(document), target);
        return page.endsWith('.md') && !anchors(readFileSync(join(ROOT, page), 'utf8')).includes(anchor);
      },
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it.each(documents)('%s names only files that are there', (document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const named = [
      ...text.matchAll(/`(?:node )?((?:src|test|scripts|bench|config|k8s|deploy|docs)\/[\w./-]+)[ `]/g),
    ];
    expect(
      named.flatMap(([, path = '']) =>
        [ROOT, join(ROOT, 'src')].some((root) => existsSync(join(root, path))) ? [] : [path],
      ),
    ).toEqual([]);
  });

  it.each(documents)(
    '%s has whole tables: a blank line ends one, and its rows become a paragraph',
    (document) => {
      const text = readFileSync(join(ROOT, document), 'utf8');
      const starts = [...text.matchAll(/(?<=\n\n) *\|.*\n(.*)/g)];
      expect(starts.filter(([, next = '']) => !/^ *\|[ :|-]+$/.test(next)).map(([start]) => start)).toEqual(
        [],
      );
    },
  );

  it.each(documents)('%s quotes source files as they are', (document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const quotes = [...text.matchAll(/<!-- quoted from (\S+) -->\n```\w+\n([\s\S]*?)```/g)];
    expect(quotes.length).toBeGreaterThanOrEqual(document === 'README.md' ? 1 : 0);
    const unindented = (code: string) => code.replaceAll(/^ +/gm, '');
    const differing = quotes.filter(
      ([, file = '', quote = '']) =>
        !unindented(readFileSync(join(ROOT, file), 'utf8')).includes(unindented(quote)),
    );
    expect(differing.map(([, file, quote]) => ({ file, quote }))).toEqual([]);
  });

  it('has every page in docs/README.md, decisions by way of their own index', () => {
    const linked = ['docs', 'docs/decisions'].flatMap((folder) =>
      relativeLinks(readFileSync(join(ROOT, folder, 'README.md'), 'utf8')).map((link) => join(folder, link)),
    );
    expect(linked).toContain('docs/decisions/README.md');
    const pages = documents.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
  });
});
