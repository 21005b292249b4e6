/** Without bookmarks, as where etcd tells of no progress, a collection in which nothing happens is silent too: looked at ever more seldom while a list shows nothing new. */
const FIRST_LOOK = 2;
const LOOK_MOST = 8;

/**
 * What a watch that was accepted and brings nothing comes to. A collection in which nothing happens, most often; a server that was taken back behind the version that
 * was asked from; or something between, which keeps back what watches bring until a buffer is full: then lists show what watches do not.
 */
export class Silences {
  #count = 0;
  #nextLook = FIRST_LOOK;
  #keptBack = 0;

  /** A watch brought something. */
  heard(): void {
    this.#count = 0;
    this.#nextLook = FIRST_LOOK;
    this.#keptBack = 0;
  }

  /** A watch ended that had brought nothing for as long as that may be. */
  add(): void {
    this.#count += 1;
  }

  /** The last watch brought nothing. */
  get isSilent(): boolean {
    return this.#count > 0;
  }

  /** Only a list shows whether something was kept back. */
  get isLookDue(): boolean {
    return this.#keptBack > 0 || this.#count >= this.#nextLook;
  }

  /** A list showed something that the watches before it had not brought: one that is accepted says nothing of what is there. */
  get isKeptBack(): boolean {
    return this.#keptBack > 0;
  }

  /** Not once only, as where something happened between a watch and its list. */
  get isSurelyKeptBack(): boolean {
    return this.#keptBack > 1;
  }

  /** `hasChanged`: the list that was due shows something new. */
  looked(hasChanged: boolean): void {
    if (hasChanged) {
      this.#keptBack += 1;
    } else if (this.#keptBack === 0) {
      this.#count = 0;
      this.#nextLook = Math.min(LOOK_MOST, 2 * this.#nextLook);
    }
  }
}
