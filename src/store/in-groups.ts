/** Groups the entries of a listing. The next group is read only after the previous one was processed. */
export async function* inGroups<T>(entries: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const entry of entries) {
    if (group.push(entry) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
