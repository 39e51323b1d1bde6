// A rule of markdownlint that wraps paragraphs at one width. Tables, code and what scripts write stay as they are.
const WIDTH = 140;

/** What must not begin a line: there it would begin a list, a heading, a quotation, a table, code or HTML. */
const BEGINS_BLOCK = /^(?:[-+*#>=|<]|~~~|```|\d+[.)]$)/;
const GENERATED = /<!--.*npm run docs:/;
const END_OF_GENERATED = /<!-- end of /;

export default {
  names: ['wrap-prose'],
  description: `Paragraphs should be wrapped at ${WIDTH} characters (npm run format)`,
  tags: ['line_length'],
  parser: 'micromark',
  function: ({ lines, parsers }, onError) => {
    for (const paragraph of paragraphsOf(parsers.micromark.tokens)) check(paragraph, lines, onError);
  },
};

/** Paragraphs, but for those that scripts write. */
function paragraphsOf(tokens) {
  let isGenerated = false;
  return tokens.flatMap((token) => {
    if (token.type === 'htmlFlow' && GENERATED.test(token.text)) isGenerated = true;
    if (token.type === 'htmlFlow' && END_OF_GENERATED.test(token.text)) isGenerated = false;
    if (isGenerated) return [];
    return token.type === 'paragraph' ? [token] : paragraphsOf(token.children);
  });
}

function check({ startLine, endLine, startColumn }, lines, onError) {
  const found = lines.slice(startLine - 1, endLine);
  // The linter masks comments.
  if (found.some((line) => line.includes('<!--'))) return;
  const marker = found[0].slice(0, startColumn - 1);
  const indent = marker.replaceAll(/[^>]/g, ' ');
  const text = [found[0].slice(marker.length), ...found.slice(1).map((line) => line.replace(/^[\s>]*/, ''))];
  const wrapped = wrap(text.join('\n'), WIDTH - indent.length).map(
    (line, index) => `${index === 0 ? marker : indent}${line}`,
  );
  if (found.join('\n') === wrapped.join('\n')) return;
  const whole = { editColumn: 1, deleteCount: found[0].length, insertText: wrapped.join('\n') };
  for (const [index] of found.entries()) {
    onError({ lineNumber: startLine + index, fixInfo: index === 0 ? whole : { deleteCount: -1 } });
  }
}

/** A backslash at the end of a line is a break that readers see. */
function wrap(text, width) {
  return text.split(/(?<=\\)\n/).flatMap((part) => fill(words(part), width));
}

/** Code is not divided, nor is a word from one that must not begin a line. */
function words(text) {
  const pieces = text.match(/(?:(`+)(?!`)[\s\S]*?[^`]\1(?!`)|\S)+/g) ?? [];
  const joined = [];
  for (const piece of pieces.map((each) => each.replaceAll('\n', ' '))) {
    if (joined.length > 0 && BEGINS_BLOCK.test(piece)) joined.push(`${joined.pop()} ${piece}`);
    else joined.push(piece);
  }
  return joined;
}

function fill(pieces, width) {
  const lines = [];
  let line = '';
  for (const piece of pieces) {
    const longer = line === '' ? piece : `${line} ${piece}`;
    if (line !== '' && longer.length > width) {
      lines.push(line);
      line = piece;
    } else line = longer;
  }
  return [...lines, line];
}
