import { sameContent } from '../domain/canonical.ts';
import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan, PlanMethod, PlanProblem } from '../domain/plan.ts';
import type { StormPolicy } from '../domain/policies/policy.ts';
import { AgentError } from '../ports/agents.ts';
import type { AddressRules, AgentRegistry, Parameters } from '../ports/agents.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { ConfigMap, Node, Secret } from '../ports/objects.ts';
import { SecretUnread } from '../ports/secret-stores.ts';
import type { SecretStores } from '../ports/secret-stores.ts';
import type { Planner } from '../ports/planner.ts';
import { SharedQuestion } from '../ports/shared-question.ts';
import { NODE_FENCE_REPORTS, SECRETS } from '../ports/resources.ts';
import { clusterProblems } from './cluster-checks.ts';
import { configurationOf, ConfigText } from './configuration.ts';
import type { Configuration, NodeFacts } from './configuration.ts';
import { MachineIndex } from './machine-index.ts';
import { decoded } from './manifests/decode.ts';
import { factsOf } from './node-facts.ts';
import { PlanCache } from './plan-cache.ts';
import { PlugIndex } from './plug-index.ts';
import type { OwnedPlugs } from './owned-plugs.ts';
import { PolicyCache } from './policies-cache.ts';
import { resolvePlan } from './resolve-plan.ts';
import { placeOfSecret, resolveParameters } from './resolve-parameters.ts';

export interface LivePlannerSources {
  cluster: Cluster;
  configMaps: Lister<ConfigMap>;
  /** Names and keys only. Undefined: who asks may not see Secrets, so that it is not known which exist. */
  secrets: Lister<Secret> | undefined;
  registry: AgentRegistry;
  namespace: string;
  /** Which addresses agents may call; absent: that is not known here. */
  addresses?: AddressRules;
  /** Logins on this machine; absent: there are none. */
  stores?: SecretStores;
  /** Every Node. Absent: plugs and names are not held against other nodes of a group. */
  nodes?: Lister<Node> | undefined;
  /** What is wrong with the configuration of the whole cluster, told once and again when it changes. */
  onClusterProblems?: ((problems: readonly PlanProblem[]) => void) | undefined;
}

/** Everything that plans are made of, until a ConfigMap or a Node changes. */
interface Known {
  configuration: Configuration;
  owners: OwnedPlugs;
}

/** Plans from the ConfigMaps as they stand now, each made anew only when something in it changed; Secrets are read at each run and kept nowhere. */
export class LivePlanner implements Planner {
  readonly #sources: LivePlannerSources;
  readonly #plugs = new PlugIndex();
  readonly #plans = new PlanCache();
  readonly #policies = new PolicyCache();
  readonly #texts = new Map<string, ConfigText>();
  readonly #nodes = new Map<string, NodeFacts>();
  /** Reads of Secrets that are wanted and not sent yet, by name. */
  readonly #wanted = new Map<string, Promise<Secret | undefined>>();
  /** Those that are on their way. */
  readonly #asked = new Map<string, SharedQuestion<Secret | undefined>>();
  #known: Known | undefined;
  #machines: MachineIndex | undefined;
  /** Of ConfigMaps and Secrets. */
  #version = 0;
  #told = '[]';

  constructor(sources: LivePlannerSources) {
    this.#sources = sources;
    sources.configMaps.onChange(() => {
      this.#known = undefined;
      this.#version += 1;
    });
    sources.secrets?.onChange(() => {
      this.#version += 1;
    });
    for (const node of sources.nodes?.all() ?? []) this.#nodes.set(node.metadata.name, factsOf(node));
    sources.nodes?.onChange((before, after) => this.#see(before, after));
  }

  stormPolicies(): readonly StormPolicy[] {
    return this.#policies.of(this.#current().configuration);
  }

  /** Plans that were made since the begin; those that stood are not made again. */
  get resolutions(): number {
    return this.#plans.resolutions;
  }

  planFor(node: Node, asked?: AskedMethods): Plan {
    const { secrets, namespace } = this.#sources;
    const secretKeys = (name: string): string[] | undefined => {
      const secret = secrets?.get(`${namespace}/${name}`);
      return secret === undefined ? undefined : Object.keys(secret.data ?? {});
    };
    if (this.#sources.nodes !== undefined) this.#machines ??= new MachineIndex(this.#nodes.values());
    const known = secrets === undefined ? undefined : secretKeys;
    const sources = { ...this.#current(), machines: this.#machines, secretKeys: known, version: this.#version };
    const facts = this.#factsOf(node);
    // Rare, and different each time: not kept.
    return asked === undefined ? this.#plans.planFor(facts, sources) : resolvePlan({ node: facts, ...sources, asked });
  }

  async parametersFor(node: string, method: PlanMethod): Promise<Parameters> {
    const { configuration } = this.#current();
    const secret = method.secret === undefined ? await this.#elsewhere(node, method) : await this.#secret(method, method.secret);
    const isTrustedFirst = this.#sources.registry.find(method.agent)?.firstTrust?.(method.parameters) !== undefined;
    const report = isTrustedFirst ? await this.#sources.cluster.get(NODE_FENCE_REPORTS, node) : undefined;
    return resolveParameters({ node, facts: this.#nodes.get(node), method, configuration, secret, trusted: report?.status?.trusted });
  }

  async #secret(method: PlanMethod, name: string): Promise<Readonly<Record<string, string>>> {
    const found = await this.#read(name);
    if (found === undefined) {
      const answered = `Secret ${name} is missing in namespace ${this.#sources.namespace}: create it with the keys that method ${method.name} needs`;
      throw new AgentError('Misconfigured', { device: method.device, plug: method.plug, asked: `Secret ${name}`, answered });
    }
    return decoded(found);
  }

  /** Whoever wants a Secret before it is asked for shares the answer, which is younger than each of their wishes: probes begin many at once with one login, and so do fences. */
  #read(name: string): Promise<Secret | undefined> {
    const wanted = this.#wanted.get(name);
    if (wanted !== undefined) return wanted;
    const answer = Promise.resolve().then(() => {
      this.#wanted.delete(name);
      return this.#ask(name);
    });
    this.#wanted.set(name, answer);
    return answer;
  }

  async #ask(name: string): Promise<Secret | undefined> {
    const { cluster, namespace } = this.#sources;
    const question = this.#asked.get(name) ?? new SharedQuestion(() => cluster.get(SECRETS, name, namespace));
    this.#asked.set(name, question);
    try {
      return await question.ask();
    } finally {
      if (question.isIdle && this.#asked.get(name) === question) this.#asked.delete(name);
    }
  }

  /** From the file or the program that the method names. */
  async #elsewhere(node: string, method: PlanMethod): Promise<Readonly<Record<string, string>> | undefined> {
    const place = placeOfSecret(method);
    if (place === undefined) return undefined;
    const { name, agent, device } = method;
    const facts = { device, plug: method.plug, asked: `secret_${place.kind}=${place.name}` };
    try {
      if (this.#sources.stores === undefined) throw new SecretUnread('no login is read from this machine');
      return await this.#sources.stores.read(place, { node, method: name, agent, device });
    } catch (error) {
      if (error instanceof SecretUnread) throw new AgentError(error.mayPass ? 'Unreachable' : 'Misconfigured', { ...facts, answered: error.message });
      throw error;
    }
  }

  #current(): Known {
    if (this.#known !== undefined) return this.#known;
    const { configMaps, nodes, registry, addresses, stores, onClusterProblems } = this.#sources;
    const machine = { ...(addresses === undefined ? {} : { addresses }), ...(stores === undefined ? {} : { stores }) };
    const configuration = configurationOf(this.#parsed(configMaps), registry, machine);
    const owners = this.#plugs.update(configuration, nodes === undefined ? undefined : this.#nodes);
    this.#known = { configuration, owners };
    if (onClusterProblems !== undefined) {
      const problems = clusterProblems(configuration);
      const message = JSON.stringify(problems);
      if (message !== this.#told) onClusterProblems(problems);
      this.#told = message;
    }
    return this.#known;
  }

  /** A ConfigMap that is the same object is not read again. */
  #parsed(configMaps: Lister<ConfigMap>): ConfigText[] {
    const before = new Map(this.#texts);
    this.#texts.clear();
    for (const { metadata, data = NO_DATA } of configMaps.all()) {
      const known = before.get(metadata.name);
      const isSame = known?.data === data && JSON.stringify(known.labels) === JSON.stringify(metadata.labels);
      this.#texts.set(metadata.name, isSame ? known : new ConfigText({ name: metadata.name, data, labels: metadata.labels }));
    }
    return [...this.#texts.values()];
  }

  /** Those that are kept already, where they say the same: each is held once. */
  #factsOf(node: Node): NodeFacts {
    const [known, facts] = [this.#nodes.get(node.metadata.name), factsOf(node)];
    return known !== undefined && sameContent(known, facts) ? known : facts;
  }

  /** A heartbeat changes nothing that a plan rests on. */
  #see(before: Node | undefined, after: Node | undefined): void {
    const name = (after ?? before)?.metadata.name ?? '';
    const facts = after === undefined ? undefined : factsOf(after);
    const known = this.#nodes.get(name);
    if (sameContent(facts, known)) return;
    if (facts === undefined) {
      this.#nodes.delete(name);
      this.#plans.forget(name);
    } else this.#nodes.set(name, facts);
    this.#machines?.replace(known, facts);
    if (this.#known === undefined) return;
    this.#plugs.updateNode(name, this.#known.configuration, this.#nodes);
  }
}

const NO_DATA: Readonly<Record<string, string>> = {};
