/**
 * Differences between two lists of words, by Myers' greedy algorithm: `[{kind: 'same'|'first'|'second', first, second,
 * length}]`, where `first` and `second` are places in the lists. Null when more than `most` words would have to be
 * taken out or put in; time grows with words times differences and memory with the square of the differences.
 */
export function wordDiff(first, second, most) {
  const [a, b] = numbered(first, second);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const middle = edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail), most);
  if (middle === null) return null;
  const kinds = [...Array(head).fill('same'), ...middle, ...Array(tail).fill('same')];
  return runsOf(kinds);
}

/** Equal words get equal numbers: numbers compare faster. */
function numbered(...lists) {
  const numbers = new Map();
  return lists.map((words) =>
    Int32Array.from(words, (word) => {
      if (!numbers.has(word)) numbers.set(word, numbers.size);
      return numbers.get(word);
    }),
  );
}

/** What to do word by word. `reached[k]` is how far in `a` the diagonal `k` (place in `a` less place in `b`) has come. */
function edits(a, b, most) {
  const limit = Math.min(most, a.length + b.length);
  const reached = new Int32Array(2 * limit + 3);
  const at = (k) => k + limit + 1;
  const trace = [];
  for (let cost = 0; cost <= limit; cost += 1) {
    trace.push(reached.slice(at(-cost - 1), at(cost + 1) + 1));
    for (let k = -cost; k <= cost; k += 2) {
      let x = isDown(k, cost, (diagonal) => reached[at(diagonal)])
        ? reached[at(k + 1)]
        : reached[at(k - 1)] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a.length, b.length);
    }
  }
  return null;
}

/** Whether the furthest way to a diagonal puts a word in rather than taking one out. */
function isDown(k, cost, reachedOn) {
  return k === -cost || (k !== cost && reachedOn(k - 1) < reachedOn(k + 1));
}

function wayBack(trace, lengthA, lengthB) {
  const kinds = [];
  let x = lengthA;
  let y = lengthB;
  for (let cost = trace.length - 1; cost >= 0; cost -= 1) {
    const reachedOn = (k) => trace[cost][k + cost + 1];
    const k = x - y;
    const down = isDown(k, cost, reachedOn);
    const startX = cost === 0 ? 0 : down ? reachedOn(k + 1) : reachedOn(k - 1) + 1;
    for (; x > startX; x -= 1, y -= 1) kinds.push('same');
    if (cost === 0) break;
    kinds.push(down ? 'second' : 'first');
    if (down) y -= 1;
    else x -= 1;
  }
  return kinds.reverse();
}

function runsOf(kinds) {
  const runs = [];
  let first = 0;
  let second = 0;
  for (const kind of kinds) {
    if (runs.at(-1)?.kind !== kind) runs.push({ kind, first, second, length: 0 });
    runs.at(-1).length += 1;
    if (kind !== 'second') first += 1;
    if (kind !== 'first') second += 1;
  }
  return runs;
}
