import { LiveRemedies } from '../../src/config/live-remedies.ts';
import { remediesController } from '../../src/controllers/remedies/controller.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import type { Lister } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { ConfigMap, KubeObject, Node } from '../../src/ports/objects.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';

export interface RemedyFigures {
  nodes: number;
  conditions: number;
  /** CPU of one change of one condition: it is followed, and decided about. */
  changeMicroseconds: number;
  /** Of one core, where each condition of each node changes once a minute, each by a change of its own. */
  percentOfCore: number;
}

const CONDITIONS = 10;
const ROUNDS = 3;
const quiet = (): void => undefined;
const nothing = (): Promise<never> => Promise.reject(new Error('nothing is asked of an API server here'));

class Watched<T extends KubeObject> implements Lister<T> {
  readonly items = new Map<string, T>();
  readonly synced = true;
  readonly freshAtMs = Number.POSITIVE_INFINITY;
  readonly #listeners = new Set<(before: T | undefined, after: T | undefined) => void>();

  get(key: string): T | undefined {
    return this.items.get(key);
  }

  all(): Iterable<T> {
    return this.items.values();
  }

  byIndex(): readonly T[] {
    return [];
  }

  onChange(listener: (before: T | undefined, after: T | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  put(item: T): void {
    const before = this.items.get(item.metadata.name);
    this.items.set(item.metadata.name, item);
    for (const listener of this.#listeners) listener(before, item);
  }
}

const typeOf = (index: number): string => `Condition${index}`;

/** Ten conditions that are answered, none of which stands for long enough. */
function configuration(): ConfigMap {
  const thresholds = Array.from(
    { length: CONDITIONS },
    (_, index) => `  - {nodeConditionType: ${typeOf(index)}, nodeConditionStatus: true, nodeConditionPeriod: 1h, remedy1: [{name: drain}]}`,
  );
  const text = ['apiVersion: node-remedy/v1alpha', 'kind: Configuration', 'nodeSelector: type=compute', 'thresholdConfigs:', ...thresholds, ''].join(
    '\n',
  );
  return { metadata: { name: 'fence-remedies' }, data: { 'a.yaml': text } };
}

function nodeOf(name: string, round: number, changed: number, now: string): Node {
  const conditions = Array.from({ length: CONDITIONS }, (_, index) => {
    const status = (index <= changed ? round : round + 1) % 2 === 0 ? ('True' as const) : ('False' as const);
    return { type: typeOf(index), status, reason: '', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
  });
  const ready = { type: 'Ready', status: 'True' as const, reason: '', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
  return {
    metadata: { name, uid: name, labels: { type: 'compute' } },
    spec: {},
    status: { conditions: [ready, ...conditions], nodeInfo: { bootID: 'boot' } },
  };
}

/** The controller alone: what a watch costs is measured elsewhere. */
export async function measureRemedies(count: number): Promise<RemedyFigures> {
  const clock = new SystemClock();
  const nodes = new Watched<Node>();
  const configMaps = new Watched<ConfigMap>();
  const settings = new LiveRemedies({ configMaps, nodes, clock });
  configMaps.put(configuration());
  const waiting = new Set<string>();
  const plan = planOf();
  const planner = { planFor: () => plan, parametersFor: nothing };
  const listers = { nodes, reports: new Watched<never>(), fences: new Watched<never>(), stops: new Watched<never>(), jobs: new Watched<never>() };
  const cluster = {
    get: nothing,
    list: nothing,
    create: nothing,
    replace: nothing,
    replaceStatus: nothing,
    mergePatch: nothing,
    remove: nothing,
    evict: nothing,
  };
  const controller = remediesController({
    ...{ clock, random: new SystemRandom(), cluster, listers, settings, planner, log: { debug: quiet, info: quiet, warn: quiet, error: quiet } },
    ...{ recorder: { event: quiet }, metrics: NO_METRICS.remedies, leadership: { isLeading: true, mayBegin: () => true } },
    ...{ prober: { probe: nothing }, lifeAtMs: () => clock.monotonicMs(), remedyHolds: () => [] },
    queue: { add: (key: string) => void waiting.add(key) },
    options: { namespace: 'nodefence-system', mode: 'enforce' },
  });
  controller.start();
  const now = new Date(clock.wallMs()).toISOString();
  const names = Array.from({ length: count }, (_, index) => `node-${index}`);
  for (const name of names) nodes.put(nodeOf(name, 0, CONDITIONS, now));
  await settle(waiting, controller);
  const before = process.cpuUsage();
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let index = 0; index < CONDITIONS; index += 1) {
      for (const name of names) nodes.put(nodeOf(name, round, index, now));
      await settle(waiting, controller);
    }
  }
  const { user, system } = process.cpuUsage(before);
  controller.close();
  const changeMicroseconds = (user + system) / (ROUNDS * CONDITIONS * count);
  return { nodes: count, conditions: CONDITIONS, changeMicroseconds, percentOfCore: (changeMicroseconds * count * CONDITIONS) / 60 / 10_000 };
}

async function settle(waiting: Set<string>, controller: { reconcile: (key: string) => Promise<unknown> }): Promise<void> {
  for (const key of waiting) await controller.reconcile(key);
  waiting.clear();
}

export function remedyWords({ nodes, conditions, changeMicroseconds, percentOfCore }: RemedyFigures): string {
  return `remedies: ${nodes} nodes, ${conditions} conditions each changing once a minute: ${changeMicroseconds.toFixed(1)} µs a change, ${percentOfCore.toFixed(2)} % of a core`;
}
