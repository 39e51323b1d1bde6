import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { DocumentedRegion } from '../domain/region.js';

const LIST = new URL('../../config/egress.yaml', import.meta.url);

/** Addresses from which the speech service sends callbacks, by region: the package's config/egress.yaml. */
export const EGRESS: Record<DocumentedRegion, string[]> = parse(readFileSync(LIST, 'utf8')).egress.regions;
