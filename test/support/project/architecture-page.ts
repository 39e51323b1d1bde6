import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { area, importsOf, isOwn, readSources } from './source-imports.js';

/** The generated part of docs/architecture.md: the folders of src as a Mermaid graph, drawn from the imports. */

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));
const BEGIN = '<!-- Drawn from the imports of src: npm run docs:architecture -->\n';
const END = '<!-- end of the drawing -->\n';

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The page with its drawing replaced by one of today's imports. */
export function withDrawing(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('docs/architecture.md lacks the markers of its drawing');
  const drawing = `\n\`\`\`mermaid\n${mermaid(folderGraph())}\n\`\`\`\n\n`;
  return page.slice(0, begin + BEGIN.length) + drawing + page.slice(end);
}

function folderGraph(): Graph {
  const sources = readSources();
  const graph = new Map([...sources.keys()].map((file) => [area(file), new Set<string>()]));
  for (const { from, to } of importsOf(sources).filter(isOwn)) {
    if (area(from) !== area(to)) graph.get(area(from))?.add(area(to));
  }
  return graph;
}

/** An arrow that a longer path implies is left out: what remains is the fewest arrows with the same reachability. */
function reduced(graph: Graph): Graph {
  const reaches = (from: string, to: string): boolean =>
    from === to || [...(graph.get(from) ?? [])].some((next) => reaches(next, to));
  return new Map(
    [...graph].map(([from, targets]) => [
      from,
      new Set([...targets].filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))),
    ]),
  );
}

/** The longest chain of imports from a folder: 0 imports nothing. */
function height(graph: Graph, folder: string): number {
  const below = [...(graph.get(folder) ?? [])].map((next) => height(graph, next));
  return below.length === 0 ? 0 : 1 + Math.max(...below);
}

function mermaid(graph: Graph): string {
  const folders = [...graph.keys()].sort((a, b) => height(graph, b) - height(graph, a) || a.localeCompare(b));
  const arrows = reduced(graph);
  return [
    'flowchart TD',
    ...folders.flatMap((folder) => (label(folder) === folder ? [] : [`  ${folder}["${label(folder)}"]`])),
    ...folders.flatMap((folder) => {
      const targets = [...(arrows.get(folder) ?? [])].sort();
      return targets.length === 0 ? [] : [`  ${folder} --> ${targets.join(' & ')}`];
    }),
  ].join('\n');
}

/** The folder's name, and below it the names of its subfolders. Git does not track empty ones, so they are left out. */
function label(folder: string): string {
  const inner = folder === 'main' ? [] : subfolders(folder);
  return [folder, ...(inner.length === 0 ? [] : [inner.join(', ')])].join('<br/>');
}

function subfolders(folder: string): string[] {
  const files = readdirSync(`${SRC}/${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      path.relative(`${SRC}/${folder}`, path.join(parentPath, name)).split(path.sep),
    );
  return [...new Set(files.flatMap(([inner = '', ...rest]) => (rest.length === 0 ? [] : [inner])))].sort();
}
