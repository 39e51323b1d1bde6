import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { DocumentedRegion } from '../domain/region.js';

interface Egress {
  /** The date on which the service published the list. */
  readonly takenOn: string;
  readonly regions: Record<DocumentedRegion, string[]>;
}

const LIST = new URL('../../config/egress.yaml', import.meta.url);

/** Addresses from which the speech service sends callbacks, by region: the package's config/egress.yaml. */
export const EGRESS: Egress = parse(readFileSync(LIST, 'utf8')).egress;
