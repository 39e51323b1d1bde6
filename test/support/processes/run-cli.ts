import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PROGRAM_ENVIRONMENT } from './program-environment.js';

/** The built binary; `npm test` builds it first. */
const BINARY = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the real binary until it exits, with `env` as its whole environment; `onStart` receives a function that signals it.
 *
 * @param input of standard input; default: none
 */
export function runCli(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
  onStart: (kill: (signal: NodeJS.Signals) => void) => void = () => {},
  input = '',
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BINARY, ...args], {
      env: { ...PROGRAM_ENVIRONMENT, ...env },
      stdio: 'pipe',
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.stdin.on('error', () => {}).end(input);
    onStart((signal) => child.kill(signal));
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
