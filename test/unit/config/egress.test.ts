import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { DOCUMENTED_REGIONS, type DocumentedRegion } from '../../../src/domain/region.js';
import { SIMULATED_REGIONS } from '../../../src/simulator/simulator.js';

const ROOT = join(import.meta.dirname, '../../..');

/** The addresses that the service publishes for allowlists. */
const PUBLISHED: Record<DocumentedRegion, string[]> = {
  eu1: ['40.74.41.91', '52.236.157.154', '40.74.37.0', '20.73.209.153', '20.73.142.44'],
  eu2: ['20.105.89.153', '20.105.89.173', '20.105.89.184', '20.105.89.98', '20.105.88.228'],
  us1: ['52.149.21.32', '52.149.21.10', '52.137.102.83', '40.64.107.92', '40.64.107.99'],
  us2: ['52.146.58.224', '52.146.58.159', '52.146.59.242', '52.146.59.213', '52.146.58.64'],
  au1: ['20.248.249.20', '20.248.249.47', '20.248.249.181', '20.248.249.119', '20.248.249.164'],
};

describe('config/egress.yaml', () => {
  // Rule: Delivery: published addresses, by region
  it('holds the addresses that the service publishes, region by region', () => {
    const { egress } = parse(readFileSync(join(ROOT, 'config/egress.yaml'), 'utf8')) as {
      egress: { regions: unknown };
    };
    expect(egress.regions).toEqual(PUBLISHED);
  });

  it('has the regions that the simulator has', () => {
    expect(SIMULATED_REGIONS).toEqual(DOCUMENTED_REGIONS);
  });
});
