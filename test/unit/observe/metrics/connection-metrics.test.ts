import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createConnectionLog } from '../../../../src/observe/metrics/connection-metrics.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('closed connections are one line a second and port, and the number of further ones', () => {
  const lines: object[] = [];
  const log = createConnectionLog({ warn: (line: object) => void lines.push(line) });
  for (const port of ['public', 'public', 'admin', 'public'] as const) log.shed(port, 16);
  jest.advanceTimersByTime(1000);
  log.shed('public', 16);
  log.close();
  expect(lines).toEqual([
    { event: 'connection-shed', port: 'public', most: 16 },
    { event: 'connection-shed', port: 'admin', most: 16 },
    { event: 'connections-shed', port: 'public', count: 2 },
    { event: 'connection-shed', port: 'public', most: 16 },
  ]);
});
