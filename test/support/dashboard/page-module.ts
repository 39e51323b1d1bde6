/** A module of the dashboard's page: plain browser JavaScript, and so without types. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export function pageModule(name: string): Promise<Record<string, any>> {
  return import(`../../../src/dashboard/lib/${name}.js`);
}
