/** Regions of the batch API that the service documents (docs/service-interface.md#regions). The configuration may add others. */
export const DOCUMENTED_REGIONS = ['eu1', 'eu2', 'us1', 'us2', 'au1'] as const;
export type DocumentedRegion = (typeof DOCUMENTED_REGIONS)[number];

export const MAX_REGION_NAME = 16;
/** Names become parts of keys and labels of metrics. */
const REGION_NAME = new RegExp(`^[a-z][a-z0-9-]{0,${MAX_REGION_NAME - 1}}$`);
/** `any` admits every address; `none` and `other` are used where figures are shown by region. */
const RESERVED = ['any', 'none', 'other'];

export const EXPECTED_REGION_NAME = `a region name: a lower-case letter and up to ${MAX_REGION_NAME - 1} further ones, digits or hyphens; not ${RESERVED.join(', ')}`;

export function isRegionName(text: string): boolean {
  return REGION_NAME.test(text) && !RESERVED.includes(text);
}
