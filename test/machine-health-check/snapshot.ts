import { asDated } from '../../src/controllers/shared/sights.ts';
import type { Decision } from '../../src/controllers/machine-health-check/actions.ts';
import { decide } from '../../src/controllers/machine-health-check/decide.ts';
import { observe } from '../../src/controllers/machine-health-check/observe.ts';
import { requestKind } from '../../src/controllers/machine-health-check/request.ts';
import { keyOf, kindKey } from '../../src/controllers/machine-health-check/snapshot.ts';
import type {
  ClusterFacts,
  ClusterSnapshot,
  FoundTemplate,
  HealthCheck,
  FreshSince,
  MachineFacts,
  NodeFacts,
  ReadCheck,
  RequestFacts,
  TemplateFacts,
} from '../../src/controllers/machine-health-check/snapshot.ts';
import type { IntOrPercent } from '../../src/controllers/machine-health-check/threshold.ts';

/** A cluster whose Nodes are all in it, as plain facts. */
export interface Facts {
  nowMs: number;
  /** The kind Cluster is served. False: its gates are skipped. */
  hasClusters: boolean;
  maxInFlight?: IntOrPercent;
  checks: readonly ReadCheck[];
  machines: readonly MachineFacts[];
  nodes: readonly NodeFacts[];
  clusters: readonly ClusterFacts[];
  requests: readonly RequestFacts[];
  templates: readonly TemplateFacts[];
  /** The Nodes can not be read. */
  areNodesUnknown?: boolean;
  /** Kinds of templates and requests that are not read yet. */
  unknownKinds?: ReadonlySet<string>;
  /** By uid of the Machine. */
  refusals?: ReadonlyMap<string, string>;
  /** By uid of the Machine: who has its node. */
  holders?: ReadonlyMap<string, string>;
  freshSinceMs?: FreshSince;
}

/** Looks at each fact anew, without any index. */
export class PlainSnapshot implements ClusterSnapshot {
  readonly maxInFlight: IntOrPercent | undefined;
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
    this.maxInFlight = facts.maxInFlight;
  }

  checks(): readonly ReadCheck[] {
    return this.#facts.checks;
  }

  candidatesOf(): MachineFacts[] {
    return this.#facts.machines.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  cluster(key: string): ClusterFacts | 'missing' | undefined {
    return this.#facts.hasClusters ? (this.#facts.clusters.find((cluster) => keyOf(cluster) === key) ?? 'missing') : undefined;
  }

  placeOf(): string {
    return '';
  }

  machinesOn(_place: string, name: string): MachineFacts[] {
    return this.#facts.machines.filter(({ nodeName }) => nodeName === name);
  }

  node(_place: string, name: string): NodeFacts | 'missing' | 'unknown' {
    const { nodes, areNodesUnknown = false } = this.#facts;
    return areNodesUnknown ? 'unknown' : (nodes.find((node) => node.name === name) ?? 'missing');
  }

  freshSinceMs(): FreshSince {
    return this.#facts.freshSinceMs ?? { machine: 0, node: 0 };
  }

  /** Nobody has looked before. */
  sightOf(): typeof asDated {
    return asDated;
  }

  requestOf({ template }: HealthCheck, machine: MachineFacts): RequestFacts | undefined {
    if (template === undefined) return undefined;
    const kind = kindKey(template.apiVersion, requestKind(template.kind));
    return this.#facts.requests.find((each) => kindKey(each.apiVersion, each.kind) === kind && keyOf(each) === keyOf(machine));
  }

  templateOf({ template, namespace }: HealthCheck): FoundTemplate {
    if (template === undefined) return undefined;
    const { apiVersion, kind, name } = template;
    const { unknownKinds = new Set(), templates } = this.#facts;
    if ([kind, requestKind(kind)].some((each) => unknownKinds.has(kindKey(apiVersion, each)))) return 'unknown';
    const isIt = (each: TemplateFacts): boolean =>
      kindKey(each.apiVersion, each.kind) === kindKey(apiVersion, kind) && keyOf(each) === keyOf({ namespace, name });
    return templates.find(isIt) ?? 'missing';
  }

  holderOf({ uid }: MachineFacts): string | undefined {
    return this.#facts.holders?.get(uid);
  }

  refusalOf({ uid }: MachineFacts): string | undefined {
    return this.#facts.refusals?.get(uid);
  }

  whyUnknown(): undefined {
    return undefined;
  }
}

/** All checks at once. */
export function decideAll(facts: Facts): Decision {
  const snapshot = new PlainSnapshot(facts);
  return joined(facts.checks.map((check) => decide(observe(snapshot, check), facts.nowMs)));
}

export function joined(decisions: readonly Decision[]): Decision {
  const due = decisions.flatMap(({ nextDueMs }) => nextDueMs ?? []);
  return {
    actions: decisions.flatMap(({ actions }) => actions),
    nodes: new Map(decisions.flatMap(({ nodes }) => [...nodes])),
    views: decisions.flatMap(({ views }) => views),
    notices: decisions.flatMap(({ notices }) => notices),
    problems: decisions.flatMap(({ problems }) => problems),
    ...(due.length > 0 && { nextDueMs: Math.min(...due) }),
  };
}
