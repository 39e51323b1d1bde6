import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createBoundedLog } from '../../../src/observe/bounded-log.js';

describe('a bounded log', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('has a bounded number of lines per second and topic, and reports how many it suppressed, also when closed', () => {
    const suppressed: object[] = [];
    const log = createBoundedLog({ warn: (fields: object) => void suppressed.push(fields) });
    const written: string[] = [];
    const write = (topic: string, lines: number) => {
      for (let n = 0; n < lines; n += 1) log.write(topic, () => written.push(topic));
    };
    const five = Array.from({ length: 5 }, () => 'credential-invalid');
    write('credential-invalid', 100);
    write('address-refused', 1);
    expect(written).toEqual([...five, 'address-refused']);

    jest.advanceTimersByTime(1000);
    expect(suppressed).toEqual([{ event: 'suppressed', topic: 'credential-invalid', count: 95 }]);

    write('credential-invalid', 6);
    expect(written).toEqual([...five, 'address-refused', ...five]);
    log.close();
    expect(suppressed.at(-1)).toEqual({ event: 'suppressed', topic: 'credential-invalid', count: 1 });
    expect(jest.getTimerCount()).toBe(0);
  });
});
