/** Lines of Node that run the program, with the first minor version of each, as `engines` in package.json. */
const LINES = new Map([
  [22, 19],
  [24, 14],
]);
const NEWER = 26;

/** Error message for an unsupported version of Node, such as `v20.20.2`; null for a supported one. */
export function unsupportedNode(version: string): string | null {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  if (major >= NEWER || minor >= (LINES.get(major) ?? Infinity)) return null;
  const lines = [...LINES].map(([line, first]) => `${line}.${first}`).join(' or ');
  return `Transcript Receiver needs Node ${lines} or newer in these lines, or Node ${NEWER} or newer; this is Node ${version.slice(1)} (${process.execPath}).`;
}
