import { type Document, LineCounter, parseDocument, visit } from 'yaml';

type Read = (content: string) => unknown;

/** Readers of configuration files, by their extensions. */
export const fileReaders: Readonly<Record<string, Read>> = {
  json: parseJson,
  yaml: parseYaml,
  yml: parseYaml,
};

/** Readers of the formats that a mapping of environment variables may name in `__format`. */
export const variableReaders: Readonly<Record<string, Read>> = {
  ...fileReaders,
  list: (content) =>
    content
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  lines: (content) => content.split(/\r?\n/).filter((line) => line.trim() !== ''),
};

/** Errors name the position only: the libraries' own messages quote the text, which may hold secrets. */
function parseYaml(content: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(content, { prettyErrors: false, lineCounter, merge: true });
  const [error] = document.errors;
  if (error === undefined) return contentOf(document, lineCounter);
  throw faultAt(lineCounter, error.pos[0], error.code.toLowerCase().replaceAll('_', ' '));
}

function contentOf(document: Document.Parsed, lineCounter: LineCounter): unknown {
  const place = unresolvedAlias(document);
  if (place !== null)
    throw faultAt(lineCounter, place, 'an alias without its anchor; quote a text that begins with *');
  try {
    return document.toJS();
  } catch {
    throw new Error('aliases or merge keys that cannot be resolved');
  }
}

function faultAt(lineCounter: LineCounter, offset: number, what: string): Error {
  const { line, col } = lineCounter.linePos(offset);
  return new Error(`line ${line}, column ${col}: ${what}`);
}

/** Offset of the first alias that names no anchor before it; null when all do. */
function unresolvedAlias(document: Document.Parsed): number | null {
  let place: number | null = null;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      place = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return place;
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new Error('not valid JSON');
  }
}
