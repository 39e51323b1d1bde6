/** Groups of a listing. The next group is read only after the one before was worked on. */
export async function* inGroups<T>(entries: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const entry of entries) {
    if (group.push(entry) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
