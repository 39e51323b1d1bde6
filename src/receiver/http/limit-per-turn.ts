/**
 * So many may wait; further ones are acted on at once, before those that wait. Without this, who pipelines requests on
 * one connection would fill the memory: Node reads on while there are no answers to hold it up.
 */
const MOST_WAITING = 256;

/**
 * Acts at once while there are few acts in this turn of the event loop, and in one of the next turns when there are
 * more. A flood over a few hundred connections is then worked off as fast as before, but whatever else the loop has to
 * do (the several round trips that an honest callback needs) waits for a few acts only and not for all of them.
 *
 * @param perTurn acts within one turn, while no more than 256 wait
 * @returns takes an act, which must not throw
 */
export function limitPerTurn(perTurn: number): (act: () => void) => void {
  let acted = 0;
  let waiting: (() => void)[] = [];
  let isTurnAhead = false;

  function awaitTurn(): void {
    if (isTurnAhead) return;
    isTurnAhead = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isTurnAhead = false;
    const now = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    acted = now.length;
    if (acted > 0) awaitTurn();
    for (const act of now) act();
  }

  return (act) => {
    awaitTurn();
    const isFree = acted < perTurn && waiting.length === 0;
    if (isFree || waiting.length >= MOST_WAITING) {
      acted += 1;
      act();
    } else {
      waiting.push(act);
    }
  };
}
