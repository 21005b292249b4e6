import { BUILT_IN_KINDS, type Kind } from './kinds.ts';

/** Which kinds are served now: the built-in ones and those of established CustomResourceDefinitions. */
export class Registry {
  readonly #byPath = new Map<string, Kind>();
  #order: Kind[] = [];

  constructor() {
    for (const kind of BUILT_IN_KINDS) this.add(kind);
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** A group that the server brings with it, whether or not it serves a certain kind of it. */
  isBuiltIn(group: string): boolean {
    return this.#order.some((one) => !one.custom && one.group === group);
  }

  /** By kind instead of plural, in any version; for owner references. */
  findKind(group: string, kind: string): Kind | undefined {
    return this.#order.find((one) => one.group === group && one.kind === kind);
  }

  all(): readonly Kind[] {
    return this.#order;
  }

  add(kind: Kind): void {
    const path = `${kind.group}/${kind.version}/${kind.plural}`;
    const known = this.#byPath.get(path);
    this.#byPath.set(path, kind);
    this.#order = known === undefined ? [...this.#order, kind] : this.#order.map((one) => (one === known ? kind : one));
  }

  /** Stops serving all versions of a custom kind, except those given. */
  removeCustom(group: string, plural: string, except: readonly string[] = []): void {
    const gone = this.#order.filter((one) => one.custom && one.group === group && one.plural === plural && !except.includes(one.version));
    for (const kind of gone) this.#byPath.delete(`${kind.group}/${kind.version}/${kind.plural}`);
    this.#order = this.#order.filter((one) => !gone.includes(one));
  }
}
