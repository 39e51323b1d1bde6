/** What a `ShortLivedSet` holds; an object can be in one of them at a time. */
export interface ShortLivedMember {
  /** Kept by the set: where the object is in it, or -1. */
  setIndex: number;
}

/**
 * A set of objects that live no longer than a callback.
 *
 * A `Set` allocates a new table every few dozen additions, and the table it replaces refers to the new one (V8,
 * `OrderedHashTable::Rehash`). Once one of them has reached the old generation, garbage or not, minor collections keep
 * all that follow, and with them every callback, until the next full collection
 * (`test/integration/young-garbage.test.ts`).
 */
export class ShortLivedSet<Member extends ShortLivedMember> {
  readonly #members: Member[] = [];

  add(member: Member): void {
    if (member.setIndex < 0) member.setIndex = this.#members.push(member) - 1;
  }

  delete(member: Member): void {
    const index = member.setIndex;
    if (index < 0) return;
    member.setIndex = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.setIndex = index;
    this.#members[index] = last;
  }

  /** A copy, in no particular order. */
  members(): Member[] {
    return [...this.#members];
  }
}
