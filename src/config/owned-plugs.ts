/** One node whose configuration switches a plug, and the place that says so. */
export interface Ownership {
  plug: string;
  node: string;
  where: string;
}

/** Plug → the nodes whose plans switch it. A plug has one owner, as nearly always, or several: a cluster has thousands of plugs. */
export class OwnedPlugs {
  readonly #owners = new Map<string, Ownership | readonly Ownership[]>();

  /** The nodes that switch it, each with the place that says so; undefined: none does. */
  get(plug: string): ReadonlyMap<string, string> | undefined {
    const owners = this.#of(plug);
    return owners.length === 0 ? undefined : new Map(owners.map(({ node, where }) => [node, where]));
  }

  /** The one node that switches it, with the name of the plug as it is held here; undefined: none does, or several. */
  soleOwner(plug: string): Ownership | undefined {
    const known = this.#owners.get(plug);
    return known === undefined || isSeveral(known) ? undefined : known;
  }

  keys(): Iterable<string> {
    return this.#owners.keys();
  }

  add(owner: Ownership): void {
    const known = this.#of(owner.plug);
    const isKnown = known.some(({ node }) => node === owner.node);
    const owners = isKnown ? known.map((one) => (one.node === owner.node ? owner : one)) : [...known, owner];
    this.#owners.set(owner.plug, owners.length === 1 ? owner : owners);
  }

  remove({ plug, node }: Ownership): void {
    const left = this.#of(plug).filter((owner) => owner.node !== node);
    const [only] = left;
    if (only === undefined) this.#owners.delete(plug);
    else this.#owners.set(plug, left.length === 1 ? only : left);
  }

  #of(plug: string): readonly Ownership[] {
    const known = this.#owners.get(plug);
    if (known === undefined) return [];
    return isSeveral(known) ? known : [known];
  }
}

function isSeveral(known: Ownership | readonly Ownership[]): known is readonly Ownership[] {
  return Array.isArray(known);
}
