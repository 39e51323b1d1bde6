/** What a listing brings, so many at a time: the rest is not read before the group is worked on. */
export async function* inGroups<T>(entries: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const entry of entries) {
    if (group.push(entry) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
