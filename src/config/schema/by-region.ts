import { z } from 'zod';
import {
  DOCUMENTED_REGIONS,
  type DocumentedRegion,
  EXPECTED_REGION_NAME,
  isRegionName,
} from '../../domain/region.js';

/**
 * A map by region with an entry for each documented one. The operator may add others.
 *
 * @param documented the entry of a documented region, which has a default
 * @param added the entry of any other region
 */
export function byRegion<D extends z.ZodType, A extends z.ZodType>(
  documented: (region: DocumentedRegion) => D,
  added: A,
) {
  const entries = DOCUMENTED_REGIONS.map((region) => [region, documented(region)]);
  return z
    .object(Object.fromEntries(entries) as Record<DocumentedRegion, D>)
    .catchall(added)
    .check(({ value, issues }) => {
      for (const name of Object.keys(value).filter((each) => !isRegionName(each))) {
        issues.push({
          code: 'invalid_key',
          origin: 'record',
          path: [name],
          input: name,
          issues: [{ code: 'custom', path: [], input: name, message: EXPECTED_REGION_NAME }],
        });
      }
    });
}
