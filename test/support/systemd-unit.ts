import { hostname } from 'node:os';
import { readProjectFile } from './manifests.js';

/** What a unit of deploy/systemd says about its process. */
export interface SystemdUnit {
  /** Arguments of Node, without the command that the program runs. */
  readonly nodeFlags: readonly string[];
  readonly program: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** File of each credential, by name. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Every other setting; the last one counts. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Reads the unit as systemd would for this instance. */
export function readUnit(file: string, instance = ''): SystemdUnit {
  const lines = readProjectFile(`deploy/systemd/${file}`)
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .map((line) => line.replaceAll('%i', instance).replaceAll('%l', hostname().split('.')[0] ?? ''))
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  const all = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value);
  const [node, ...args] = (all('ExecStart')[0] ?? '').split(' ');
  if (node !== 'node') throw new Error(`${file} does not start Node`);
  const at = args.findIndex((arg) => !arg.startsWith('-'));
  return {
    nodeFlags: args.slice(0, at),
    program: args[at] ?? '',
    command: args.slice(at + 1),
    environment: Object.fromEntries(
      all('Environment')
        .flatMap((value) => value.split(' '))
        .map((pair) => pair.split('=')),
    ),
    credentials: Object.fromEntries(all('LoadCredential').map((value) => value.split(':'))),
    settings: Object.fromEntries(lines),
  };
}
