/** Of one peer that the controllers told of: it asks once with each heartbeat, and may ask what it was asked for. */
const PEER_MAX = 16;
/** Of one address of anybody else: several nodes may be behind it. */
const HOST_MAX = 50;
/** Of everybody else together: more come only from somebody who means ill, and each costs a computation. */
const STRANGERS_MAX = 200;

/** Requests that are answered between two heartbeats. Nobody knows yet who asks: whoever floods from one address uses up what is that address's. */
export class AnswerBudget {
  readonly #taken = new Map<string, number>();
  #ofStrangers = 0;

  renew(): void {
    this.#taken.clear();
    this.#ofStrangers = 0;
  }

  /** `from`: address and port. `isPeer`: a peer of this node was told to be there. */
  mayAnswer(from: string, isPeer: boolean): boolean {
    if (isPeer) return this.#take(from, PEER_MAX);
    if (this.#ofStrangers >= STRANGERS_MAX || !this.#take(from.slice(0, from.lastIndexOf(':')), HOST_MAX)) return false;
    this.#ofStrangers += 1;
    return true;
  }

  #take(whose: string, most: number): boolean {
    const taken = this.#taken.get(whose) ?? 0;
    if (taken >= most) return false;
    this.#taken.set(whose, taken + 1);
    return true;
  }
}
