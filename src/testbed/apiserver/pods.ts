import { need, type Backend } from './backend.ts';
import { seconds } from './clock-text.ts';
import { checkDeletePreconditions, parseDeleteOptions, remove } from './deletes.ts';
import { ApiFailure, badRequest, conflict } from './failure.ts';
import { at, isObject, objectsAt, textAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import { labelSelectorMatches } from './selectors.ts';

const BUDGETS = 'poddisruptionbudgets.policy';

/** POST pods/<name>/eviction: a deletion that PodDisruptionBudgets may forbid with 429. */
export function evict(
  backend: Backend,
  kind: Kind,
  namespace: string,
  name: string,
  body: Json | undefined,
  query: Readonly<Record<string, string>>,
): ApiObject {
  const pod = need(backend, kind, namespace, name);
  const named = textAt(body, 'metadata', 'name');
  if (named !== '' && named !== name) throw badRequest('name in URL does not match name in Eviction object');
  const options = parseDeleteOptions(at(body, 'deleteOptions'), query);
  checkDeletePreconditions(kind, pod, options);
  if (isProtected(pod)) spendBudget(backend, pod, options.dryRun);
  return remove(backend, kind, pod, options).object;
}

/** Pods that have ended, have not started or are going already disturb nobody. */
function isProtected(pod: ApiObject): boolean {
  return pod.metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status', 'phase'));
}

function spendBudget(backend: Backend, pod: ApiObject, dryRun: boolean): void {
  const { namespace = '', labels = {}, name } = pod.metadata;
  const budgets = backend.store
    .collection(BUDGETS)
    .inNamespace(namespace)
    .filter((budget) => isObject(at(budget, 'spec', 'selector')) && labelSelectorMatches(at(budget, 'spec', 'selector'), labels));
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1) {
    throw new ApiFailure(500, 'InternalError', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  }
  const counted = countsOf(backend, budget);
  if (!isReady(pod) && mayGoUnready(budget, counted)) return;
  if (isLate(budget)) throw tooMany(`The disruption budget ${budget.metadata.name} is still being processed by the server.`);
  if (counted.allowed <= 0) throw overBudget(budget, counted);
  if (dryRun || at(budget, 'status', 'observedGeneration') === undefined) return;
  const status = isObject(budget['status']) ? budget['status'] : {};
  const disrupted = isObject(status['disruptedPods']) ? status['disruptedPods'] : {};
  backend.store.put(BUDGETS, {
    ...budget,
    status: { ...status, disruptionsAllowed: counted.allowed - 1, disruptedPods: { ...disrupted, [name]: seconds(backend.clock.wallMs()) } },
  });
}

interface Counts {
  allowed: number;
  healthy: number;
  desired: number;
}

/** The budget's status where a controller keeps it; else counted from the pods now, since no disruption controller runs here. */
function countsOf(backend: Backend, budget: ApiObject): Counts {
  const status = budget['status'];
  if (isObject(status) && typeof status['observedGeneration'] === 'number') {
    return {
      allowed: Number(status['disruptionsAllowed'] ?? 0),
      healthy: Number(status['currentHealthy'] ?? 0),
      desired: Number(status['desiredHealthy'] ?? 0),
    };
  }
  const pods = backend.store
    .collection('pods')
    .inNamespace(budget.metadata.namespace ?? '')
    .filter((pod) => labelSelectorMatches(at(budget, 'spec', 'selector'), pod.metadata.labels ?? {}));
  const healthy = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length;
  const expected = pods.length;
  const least = at(budget, 'spec', 'minAvailable');
  const most = at(budget, 'spec', 'maxUnavailable');
  const desired = least === undefined ? Math.max(0, expected - share(most, expected)) : share(least, expected);
  return { allowed: healthy - desired, healthy, desired };
}

/** Its controller has not seen its last change. */
function isLate(budget: ApiObject): boolean {
  const seen = at(budget, 'status', 'observedGeneration');
  return typeof seen === 'number' && seen < (budget.metadata.generation ?? 0);
}

/** A pod that is not ready is none of the healthy ones that a budget keeps; where enough of those are there, or the budget says so, it may go. */
function mayGoUnready(budget: ApiObject, { healthy, desired }: Counts): boolean {
  return textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow' || (desired > 0 && healthy >= desired);
}

function isReady(pod: ApiObject): boolean {
  return objectsAt(pod, 'status', 'conditions').some((condition) => condition['type'] === 'Ready' && condition['status'] === 'True');
}

function share(value: Json | undefined, total: number): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return 0;
  return value.endsWith('%') ? Math.ceil((Number(value.slice(0, -1)) / 100) * total) : Number(value);
}

function overBudget(budget: ApiObject, counts: Counts): ApiFailure {
  const { name } = budget.metadata;
  return tooMany(`The disruption budget ${name} needs ${String(counts.desired)} healthy pods and has ${String(counts.healthy)} currently`);
}

function tooMany(why: string): ApiFailure {
  return new ApiFailure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
  });
}

/** POST pods/<name>/binding: the scheduler's word. */
export function bind(backend: Backend, kind: Kind, namespace: string, name: string, body: Json | undefined): ApiObject {
  const pod = need(backend, kind, namespace, name);
  const node = textAt(body, 'target', 'name');
  if (node === '') throw badRequest('target.name is required');
  const bound = textAt(pod, 'spec', 'nodeName');
  const binding = { group: '', plural: 'pods/binding', kind: 'Binding' };
  if (pod.metadata.deletionTimestamp !== undefined) throw conflict(binding, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (bound !== '') throw conflict(binding, name, `pod ${name} is already assigned to node ${JSON.stringify(bound)}`);
  const spec = isObject(pod['spec']) ? pod['spec'] : {};
  const status = isObject(pod['status']) ? pod['status'] : {};
  const scheduled: JsonObject = { type: 'PodScheduled', status: 'True', lastTransitionTime: seconds(backend.clock.wallMs()), lastProbeTime: null };
  const conditions = objectsAt(status, 'conditions').filter((condition) => condition['type'] !== 'PodScheduled');
  return backend.store.put(kind.storage, {
    ...pod,
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: [...conditions, scheduled] },
  });
}

/** GET pods/<name>/log: the newest `tailLines` of what one container has written, cut after `limitBytes`. */
export function logText(backend: Backend, pod: ApiObject, query: Readonly<Record<string, string>>): string {
  const { name, namespace = '' } = pod.metadata;
  const names = [...objectsAt(pod, 'spec', 'initContainers'), ...objectsAt(pod, 'spec', 'containers')].map((container) => textAt(container, 'name'));
  const asked = query['container'] ?? '';
  if (asked === '' && names.length > 1) throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  const container = asked === '' ? (names[0] ?? '') : asked;
  if (!names.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
  const text = backend.logOf(namespace, name, container);
  if (text === undefined) throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ContainerCreating`);
  const lines = text.split(/(?<=\n)/);
  const newest = lines.slice(Math.max(0, lines.length - Number(query['tailLines'] ?? lines.length)));
  const bytes = Buffer.from(newest.join(''));
  return bytes.subarray(0, Number(query['limitBytes'] ?? bytes.length)).toString();
}
