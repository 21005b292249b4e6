import { clusterLayer } from '../../src/config/node-groups.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePolicies } from '../../src/config/policies.ts';
import { Problems } from '../../src/config/problems.ts';
import { fakeRegistry } from '../../src/config/testing/fake-agents.ts';
import { Trips } from '../../src/controllers/fence/storm/trips.ts';
import { judgeStorm } from '../../src/domain/policies/judge.ts';
import type { StormHold } from '../../src/domain/policies/judge.ts';
import type { StormPolicy } from '../../src/domain/policies/policy.ts';
import type { ControllerView, EtcdMember, MaintenanceMark, StormFence, StormNode, StormView } from '../../src/domain/policies/view.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { holdsSlot } from '../../src/controllers/fence/storm/fence-facts.ts';
import type { Model } from '../../src/domain/testing/model.ts';

/** The node that the automaton of the scene is about. */
const OWN = 'a';
const SOURCES = [
  ...(['nodefence', 'cordon', 'kured', 'medik8s-exclude', 'node-maintenance', 'autoscaler', 'karpenter'] as const),
  'machine-controller-manager',
] as const satisfies readonly MaintenanceMark['source'][];

const OTHERS = /^(.+?) (fails?|falls? silent|heals?|(?:is|are) being fenced|(?:is|are) released)$/;

/** The cluster around node `a`, written down in words, and what the real storm policies say of it. Other nodes have no automaton of their own. */
export class StormScene {
  readonly #nodes = new Map<string, StormNode>();
  readonly #written = new Map<string, string>();
  readonly #targets = new Map<string, boolean>();
  readonly #trips = new Trips();
  #policies: readonly StormPolicy[] | undefined;
  readonly #told = new Set<string>();
  #members: EtcdMember[] = [];
  #starts: { node: string; atMs: number }[] = [];
  #firing: readonly string[] | undefined;
  #controller: Pick<ControllerView, 'startedAtMs' | 'tookOver' | 'freshSinceMs'> & { silentSinceMs?: number } = {
    startedAtMs: 0,
    tookOver: false,
    freshSinceMs: 0,
  };
  #wallAheadMs: number | undefined;

  /** Is there a cluster? Without one nobody is judged. */
  get isThere(): boolean {
    return this.#nodes.size > 0;
  }

  /** Carries out one command; `false`: it is not about the cluster. Returns what the configuration says of itself. */
  command(verb: string, rest: string, nowMs: number): string[] | false {
    switch (verb) {
      case 'cluster':
        return this.#cluster(rest);
      case 'policies':
        return this.#write('fence-cluster-config', `policies=${rest}`);
      case 'policy': {
        const [name = '', ...setting] = rest.split(' ');
        return this.#write(`fence-policy-${name}`, setting.join(' '));
      }
      case 'others':
        return this.#others(rest, nowMs);
      case 'label':
        return this.#label(rest);
      case 'control-plane':
        return this.#change(rest, { isControlPlane: true });
      case 'etcd':
        return this.#etcd(rest);
      case 'mark':
        return this.#mark(rest);
      case 'storage':
        return this.#storage(rest);
      case 'controller':
        return this.#controls(rest, nowMs);
      case 'wall':
        this.#wallAheadMs = instant(rest) - nowMs;
        return [];
      case 'alerts':
        this.#firing = rest === 'do not answer' ? undefined : rest.split(' ').filter((name) => name !== 'none');
        return [];
      default:
        return false;
    }
  }

  /** What holds node `a` now, as the controller would find it. */
  holds(model: Model): readonly StormHold[] {
    if (!this.isThere) return [];
    this.#seeOwn(model);
    const policies = this.#standing([]);
    const failed = [...this.#nodes.values()].filter(({ health }) => health === 'failed').map(({ name }) => name);
    let holdsOf = judgeStorm(policies, this.#view(model, policies));
    if (this.#trips.see(policies, failed, holdsOf, model.nowMs)) holdsOf = judgeStorm(policies, this.#view(model, policies));
    return holdsOf(OWN);
  }

  #cluster(rest: string): string[] {
    const count = /^of (\d+) nodes?$/.exec(rest)?.[1];
    const names = count === undefined ? rest.split(' ') : [OWN, ...Array.from({ length: Number(count) - 1 }, (_node, index) => `n${index + 1}`)];
    for (const name of names)
      this.#nodes.set(name, {
        ...{ name, labels: {}, isControlPlane: false, health: 'healthy', healthSinceMs: 0 },
        ...{ fence: undefined, marks: [], storage: undefined },
      });
    return [];
  }

  #write(configMap: string, line: string): string[] {
    this.#written.set(configMap, [...(this.#written.get(configMap)?.split('\n') ?? []), line].join('\n'));
    this.#policies = undefined;
    const problems: string[] = [];
    this.#standing(problems);
    return problems;
  }

  #standing(problems: string[]): readonly StormPolicy[] {
    if (this.#policies !== undefined) return this.#policies;
    const configMaps = [...this.#written].map(([name, text]) => ({ name, data: { 'config.properties': text } }));
    const configuration = configurationOf(configMaps, fakeRegistry());
    const found = new Problems();
    this.#policies = resolvePolicies(configuration, clusterLayer(configuration, found)?.settings, found);
    const words = found.all().map(({ severity, where, message }) => `  ${severity}: ${where}: ${message}`);
    problems.push(...words.filter((line) => !this.#told.has(line)));
    for (const line of words) this.#told.add(line);
    return this.#policies;
  }

  #others(rest: string, nowMs: number): string[] {
    const [, names = '', what = ''] = OTHERS.exec(rest) ?? [];
    if (names === '') throw new Error(`unknown: others ${rest}`);
    if (what.startsWith('heal')) return this.#change(names, { health: 'healthy', healthSinceMs: nowMs, fence: undefined });
    if (what.includes('silent')) return this.#change(names, { health: 'silent', healthSinceMs: nowMs });
    if (what.startsWith('fail')) return this.#change(names, { health: 'failed', healthSinceMs: nowMs });
    const isBegin = what.endsWith('being fenced');
    if (isBegin) this.#starts.push(...names.split(' ').map((node) => ({ node, atMs: nowMs })));
    return this.#change(names, { health: 'failed', fence: { holdsSlot: isBegin, isRequested: false, state: isBegin ? 'running' : 'done' } });
  }

  #label(rest: string): string[] {
    const words = rest.split(' ');
    const [key = '', value = ''] = (words.pop() ?? '').split('=');
    for (const name of words) this.#change(name, { labels: { ...this.#node(name).labels, [key]: value } });
    return [];
  }

  #etcd(rest: string): string[] {
    const [, name, health] = /^(\S+) is (sick|healthy)$/.exec(rest) ?? [];
    if (name !== undefined)
      this.#members = this.#members.map((member) => (member.node === name ? { ...member, isHealthy: health === 'healthy' } : member));
    else this.#members = rest.split(' ').map((node) => ({ name: `etcd-${node}`, node, isHealthy: true, source: `static pod etcd-${node}` }));
    return [];
  }

  /** `mark a kured annotation x on DaemonSet kured`, `mark a none`, `mark a annotation key=value`. */
  #mark(rest: string): string[] {
    const [name = '', kind = '', ...where] = rest.split(' ');
    const source = SOURCES.find((known) => known === kind);
    if (source !== undefined) return this.#change(name, { marks: [{ source, where: where.join(' ') }] });
    if (kind === 'none') return this.#change(name, { marks: [], annotations: {} });
    if (kind !== 'annotation') throw new Error(`unknown: mark ${rest}`);
    const [key = '', value = ''] = where.join(' ').split('=');
    return this.#change(name, { annotations: { [key]: value } });
  }

  /** `storage a host=no peers=yes lease=no`; what is not told is not known. */
  #storage(rest: string): string[] {
    const [name = '', ...told] = rest.split(' ');
    const said = new Map(told.map((word) => [word.split('=')[0], word.endsWith('=yes')]));
    return this.#change(name, { storage: { hostReaches: said.get('host'), peersReach: said.get('peers'), renewsLease: said.get('lease') } });
  }

  #controls(rest: string, nowMs: number): string[] {
    const [, verb, targets = ''] = /^(reaches|does not reach) (.+)$/.exec(rest) ?? [];
    const { silentSinceMs: _silent, ...listening } = this.#controller;
    if (verb !== undefined) for (const target of targets.split(' ')) this.#targets.set(target, verb === 'reaches');
    else if (rest === 'starts' || rest === 'takes over') this.#controller = { startedAtMs: nowMs, tookOver: rest !== 'starts', freshSinceMs: 0 };
    else if (rest === 'hears nothing') this.#controller = { ...listening, silentSinceMs: nowMs };
    else if (rest === 'hears again') this.#controller = { ...listening, freshSinceMs: nowMs };
    else throw new Error(`unknown: controller ${rest}`);
    return [];
  }

  #change(names: string, change: Partial<StormNode>): string[] {
    for (const name of names.split(' ')) this.#nodes.set(name, { ...this.#node(name), ...change });
    return [];
  }

  #node(name: string): StormNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name} in this cluster`);
    return node;
  }

  #seeOwn({ node, fence, nowMs }: Model): void {
    const status = fence?.status;
    const stormFence = fence === undefined ? undefined : { ...factsOf(status), isRequested: fence.spec.requestedBy !== undefined };
    const isFailed = node?.ready !== 'True' || (stormFence !== undefined && stormFence.state !== 'new' && stormFence.state !== 'final');
    this.#change(OWN, { health: isFailed ? 'failed' : 'healthy', fence: stormFence });
    const begun = this.#starts.some((start) => start.node === OWN);
    if (stormFence?.holdsSlot === true && !begun) this.#starts.push({ node: OWN, atMs: nowMs });
  }

  #view({ nowMs }: Model, policies: readonly StormPolicy[]): StormView {
    const { silentSinceMs = nowMs, ...controller } = this.#controller;
    return {
      nowMs,
      wallMs: nowMs + (this.#wallAheadMs ?? 1_700_000_000_000),
      nodes: this.#nodes,
      controller: { ownNode: undefined, freshAtMs: silentSinceMs, targets: this.#targets, ...controller },
      controlPlane: { members: this.#members.length === 0 ? undefined : this.#members },
      starts: this.#starts,
      stormEndedAtMs: this.#trips.endedAtMs,
      alerts: new Map(policies.filter(({ policy }) => policy === 'alerts').map(({ name }) => [name, this.#firing])),
    };
  }
}

function factsOf(status: NodeFenceStatus | undefined): Pick<StormFence, 'holdsSlot' | 'state'> {
  return status === undefined ? { holdsSlot: false, state: 'new' } : { holdsSlot: holdsSlot(status), state: status.state };
}

function instant(text: string): number {
  const found = Date.parse(text);
  if (Number.isNaN(found)) throw new Error(`not a time: ${text}`);
  return found;
}
