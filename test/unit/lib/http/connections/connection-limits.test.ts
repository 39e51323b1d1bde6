import { describe, expect, it } from '@jest/globals';
import {
  connectionLimits,
  openFileLimit,
} from '../../../../../src/lib/http/connections/connection-limits.js';

const SETTINGS = { maxConnections: 2048, maxAdminConnections: 256, maxConcurrentDeliveries: 256 };

describe('connectionLimits', () => {
  it('are those of the settings when the limit of open files is high or unknown', () => {
    expect(connectionLimits(SETTINGS, 1_048_576)).toEqual({ public: 2048, admin: 256 });
    expect(connectionLimits(SETTINGS, null)).toEqual({ public: 2048, admin: 256 });
  });

  it.each([64, 256, 1024, 2048])('leave files for what is received over them: %d', (openFiles) => {
    const limits = connectionLimits(SETTINGS, openFiles);
    const left = openFiles - limits.public - limits.admin;
    expect(left).toBeGreaterThanOrEqual(Math.min(openFiles / 2, 128 + 2 * 256));
    expect(limits.public + limits.admin).toBeGreaterThanOrEqual(openFiles / 2);
    expect(limits.public).toBeGreaterThanOrEqual(limits.admin);
    expect(limits.admin).toBeGreaterThan(0);
  });

  it('know what this process may open', () => {
    expect(openFileLimit()).toBeGreaterThan(100);
  });
});
