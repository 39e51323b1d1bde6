import { LineCounter, parseDocument } from 'yaml';

type Read = (content: string) => unknown;

const fileReaders: Readonly<Record<string, Read>> = { json: parseJson, yaml: parseYaml, yml: parseYaml };

/** Formats an environment variable can be mapped with (`__format`), beside those of files. */
const variableReaders: Readonly<Record<string, Read>> = {
  list: (content) =>
    content
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  lines: (content) => content.split(/\r?\n/).filter((line) => line.trim() !== ''),
};

/** Names of the formats that configuration files come in; also their file extensions. */
export const FILE_FORMATS: readonly string[] = Object.keys(fileReaders);

/**
 * What node-config reads files and mapped variables with. Its own parser looks for the YAML library from the
 * working directory, so that the binary would find its settings only when started inside its package.
 */
export const configParser = {
  parse: (fileName: string, content: string) =>
    fileReaders[fileName.slice(fileName.lastIndexOf('.') + 1)]?.(content),
  getParser: (format: string) => {
    const read = fileReaders[format] ?? variableReaders[format];
    return read && ((_: string | null, content: string) => read(content));
  },
  getFilesOrder: () => FILE_FORMATS,
};

/** Errors name the place only: the libraries' own messages quote the text, and with it secrets. */
function parseYaml(content: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(content, { prettyErrors: false, lineCounter, merge: true });
  const error = document.errors[0];
  if (error === undefined) return document.toJS();
  const { line, col } = lineCounter.linePos(error.pos[0]);
  throw new Error(`line ${line}, column ${col}: ${error.code.toLowerCase().replaceAll('_', ' ')}`);
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new Error('not valid JSON');
  }
}
