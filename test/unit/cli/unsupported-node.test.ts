import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { unsupportedNode } from '../../../src/cli/unsupported-node.js';

it.each(['v22.19.0', 'v22.23.3', 'v24.14.0', 'v26.0.0', 'v27.1.0', 'v28.0.0'])(
  '%s runs the program',
  (version) => {
    expect(unsupportedNode(version)).toBeNull();
  },
);

it.each(['v18.20.8', 'v20.20.2', 'v21.7.3', 'v22.18.9', 'v23.11.0', 'v24.13.1', 'v25.9.0'])(
  '%s does not',
  (version) => {
    expect(unsupportedNode(version)).toBe(
      `Transcript Receiver needs Node 22.19 or 24.14 or newer in these lines, or Node 26 or newer; this is Node ${version.slice(1)} (${process.execPath}).`,
    );
  },
);

it('agrees with the engines of package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(engines).toEqual({ node: '>=22.19 <23 || >=24.14 <25 || >=26' });
});

it('an older Node says so in one line and exits with 2, whatever it is to start', async () => {
  const older = 'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.20.2"})';
  const command = ['--import', older, 'dist/main.js', 'status', '--json'];
  const result = await new Promise<unknown>((resolve) =>
    execFile(process.execPath, command, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    ),
  );
  expect(result).toEqual({ code: 2, stdout: '', stderr: `${unsupportedNode('v20.20.2')}\n` });
});
