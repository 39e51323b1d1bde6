import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../../../../src');

function importsOf(folder: string): { file: string; line: string; from: string }[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [
        ...readFileSync(join(root, folder, file), 'utf8').matchAll(
          /^(?:import|export)[^;]*? from '([^']+)';/gm,
        ),
      ].map(([line, from]) => ({ file, line, from: from ?? '' })),
    );
}

describe('the realtime client', () => {
  it('stands on nothing of Node.js outside ws-socket, so that browsers can load it', () => {
    const within = join(root, 'speech/realtime/');
    const outside = importsOf('speech/realtime').filter(
      ({ file, from }) => !from.startsWith('.') || !join(within, file, '..', from).startsWith(within),
    );
    expect(outside.map(({ file, from }) => `${file}: ${from}`)).toEqual([
      'check-config.ts: zod',
      'read-message.ts: zod',
      'read-message.ts: ../../lib/text/parse-json.js',
      'realtime.ts: ../../lib/outbound/proxy-settings.js',
      'realtime.ts: ../../lib/outbound/proxy-settings.js',
      'session/session-failure.ts: ../../../domain/reasons.js',
      'socket/ws-socket.ts: ws',
      'socket/ws-socket.ts: ../../../lib/outbound/connect.js',
      'socket/ws-socket.ts: ../../../lib/outbound/http-agents.js',
      'socket/ws-socket.ts: ../../../lib/outbound/proxy-settings.js',
    ]);
    const settings = outside.filter(({ file }) => file === 'realtime.ts');
    for (const { line } of settings) expect(line).toMatch(/^(import|export) type/);
    expect(importsOf('lib/text').filter(({ file }) => file === 'parse-json.ts')).toEqual([]);
    const reasons = importsOf('domain').filter(({ file }) => file === 'reasons.ts');
    expect(reasons.map(({ line }) => line)).toEqual(["import type { ProblemCode } from './problem.js';"]);
  });
});
