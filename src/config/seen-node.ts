import { sameContent } from '../domain/canonical.ts';
import { EqualLists } from '../domain/equal-lists.ts';
import type { NodeFacts } from './configuration.ts';

type Texts = NodeFacts['labels'];

/** Absent: all of them. */
type Names = readonly string[] | undefined;

const LISTS_MAX = 16;

/** What was looked at of a Node: most of its labels concern nobody who fences, and some change often. */
export class SeenNode {
  #facts: NodeFacts;
  readonly #labels: Names;
  readonly #annotations: Names;

  constructor(facts: NodeFacts, labels: Names, annotations: Names) {
    this.#facts = facts;
    this.#labels = labels;
    this.#annotations = annotations;
  }

  /** Would whoever looked find the same in these? Then these are kept in the place of the older ones. */
  isSameIn(facts: NodeFacts): boolean {
    const known = this.#facts;
    if (known === facts) return true;
    const isSame =
      known.name === facts.name &&
      known.providerID === facts.providerID &&
      known.systemUUID === facts.systemUUID &&
      sameContent(known.addresses, facts.addresses) &&
      areSame(this.#labels, known.labels, facts.labels) &&
      areSame(this.#annotations, known.annotations, facts.annotations);
    if (isSame) this.#facts = facts;
    return isSame;
  }
}

/** Notes who looks at what of Nodes. Those that are looked at in the same way hold the same lists. */
export class NodeSight {
  readonly #lists = new EqualLists<string>(LISTS_MAX);

  /** Calls `look` with facts that note it; they are not to be kept. */
  through<T>(facts: NodeFacts, look: (noting: NodeFacts) => T): { seen: SeenNode; found: T } {
    const [labels, annotations] = [new Noted(facts.labels), new Noted(facts.annotations)];
    const found = look({ ...facts, labels: labels.texts, annotations: annotations.texts });
    return { seen: new SeenNode(facts, this.#shared(labels.names), this.#shared(annotations.names)), found };
  }

  #shared(names: Names): Names {
    return names === undefined ? undefined : this.#lists.of(names);
  }
}

class Noted {
  readonly texts: Texts;
  readonly #names = new Set<string>();
  #isWhole = false;

  constructor(texts: Texts) {
    const note = (key: string | symbol): void => {
      if (typeof key === 'string') this.#names.add(key);
    };
    this.texts = new Proxy(texts, {
      get: (target, key) => {
        note(key);
        return Reflect.get(target, key) as unknown;
      },
      has: (target, key) => {
        note(key);
        return Reflect.has(target, key);
      },
      getOwnPropertyDescriptor: (target, key) => {
        note(key);
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      ownKeys: (target) => {
        this.#isWhole = true;
        return Reflect.ownKeys(target);
      },
    });
  }

  get names(): Names {
    return this.#isWhole ? undefined : [...this.#names];
  }
}

function areSame(names: Names, some: Texts, others: Texts): boolean {
  return some === others || (names === undefined ? sameContent(some, others) : names.every((name) => textOf(some, name) === textOf(others, name)));
}

function textOf(texts: Texts, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
