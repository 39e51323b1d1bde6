import { z } from 'zod';
import {
  DOCUMENTED_REGIONS,
  type DocumentedRegion,
  EXPECTED_REGION_NAME,
  isRegionName,
} from '../../domain/region.js';
import { settingMeta } from '../setting.js';

/**
 * A map by region with an entry for each documented one. The operator may add others.
 *
 * @param documented the entry of a documented region, with its default
 * @param added the entry of any other region
 */
export function byRegion<D extends z.ZodType, A extends z.ZodType>(
  description: string,
  documented: (region: DocumentedRegion) => D,
  added: A,
) {
  const entries = DOCUMENTED_REGIONS.map((region) => [region, documented(region)]);
  const map = z
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
  const withDefault = map.prefault({} as never);
  settingMeta.add(withDefault, { description });
  return withDefault;
}
