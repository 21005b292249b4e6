import { keptOff, keptOn } from '../../../domain/pod-placement.ts';
import type { Affinity } from '../../../domain/pod-placement.ts';
import type { PodTemplateRemedy } from '../../../domain/remedy/configuration.ts';
import type { BatchJob, PodTemplate, TemplateSpec } from '../../../ports/batch.ts';
import type { Taint } from '../../../ports/objects.ts';
import { intentText, REMEDY_INTENT_ANNOTATION, REMEDY_JOB_LABEL, REMEDY_NODE_LABEL, remedyJobName } from './intent.ts';
import type { RemedyIntent } from './intent.ts';

/** A remedy that is a pod, as its Configuration has it. */
export type RemedyPod = Omit<PodTemplateRemedy, 'kind'>;

/** What a remedy pod is told of its node. */
export interface TargetFacts {
  condition: { type: string; status: string; reason: string };
  providerId: string;
  addresses: readonly string[];
  taints: readonly Pick<Taint, 'key' | 'effect'>[];
}

export interface RemedyOrder {
  namespace: string;
  intent: RemedyIntent;
  target: TargetFacts;
  deadlineMs: number;
}

/** Without any right; shipped beside the controller. */
export const REMEDY_ACCOUNT = 'nodefence-remedy';
/** Long enough to look at it in the morning. */
const KEPT_SECONDS = 3_600;
/** A program that does not end when it is told to may act for so long after the deadline. */
const GRACE_SECONDS = 30;
/** Whatever was proven of a node stands by this taint: nothing of ours begins behind it. */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** Taints that a node has because it is sick; more may come while its remedy runs. */
const TAINTS_OF_SICK_NODES = [
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/network-unavailable',
];

type Fields = Readonly<Record<string, unknown>>;

/** Why this template can not be run as a remedy; undefined: it can. */
export function refusalOf({ template: { spec } }: RemedyPod): string | undefined {
  if (spec['nodeName'] !== undefined) return 'spec.nodeName must not be there: runOn says whether the pod runs on the sick node';
  return listOf(spec['containers']).length === 0 ? 'spec.containers must have a container' : undefined;
}

/** The Job: once, bounded in time, without rights, and never on the sick node unless it is meant for it. Throws where `refusalOf` names a reason. */
export function remedyJob(order: RemedyOrder, pod: RemedyPod): BatchJob {
  const refusal = refusalOf(pod);
  if (refusal !== undefined) throw new Error(refusal);
  const { intent, namespace, deadlineMs } = order;
  const name = remedyJobName(intent);
  const labels = { [REMEDY_JOB_LABEL]: name, [REMEDY_NODE_LABEL]: intent.nodeUid };
  const { labels: written, ...metadata } = pod.template.metadata ?? {};
  return {
    metadata: { name, namespace, labels, annotations: { [REMEDY_INTENT_ANNOTATION]: intentText(intent) } },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: wholeSeconds(deadlineMs),
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: { metadata: { ...metadata, labels: { ...(written as Record<string, string> | undefined), ...labels } }, spec: podSpec(order, pod) },
    } satisfies { template: PodTemplate } & BatchJob['spec'],
  };
}

function podSpec(order: RemedyOrder, { template: { spec }, references, runOn }: RemedyPod): TemplateSpec {
  const { node } = order.intent;
  const affinity = spec['affinity'] as Affinity | undefined;
  const env = environmentOf(order);
  const told = (key: 'containers' | 'initContainers'): TemplateSpec['containers'] =>
    listOf(spec[key]).map((container) =>
      withReferences(
        container,
        references.filter(({ isInit }) => isInit === (key === 'initContainers')),
        env,
      ),
    );
  const grace = spec['terminationGracePeriodSeconds'];
  return {
    ...spec,
    restartPolicy: 'Never',
    // Of the pod too: that one its kubelet keeps by itself, when it hears of no deletion.
    activeDeadlineSeconds: wholeSeconds(order.deadlineMs),
    terminationGracePeriodSeconds: Math.min(typeof grace === 'number' ? grace : GRACE_SECONDS, GRACE_SECONDS),
    ...(spec['serviceAccountName'] === undefined && { serviceAccountName: REMEDY_ACCOUNT, automountServiceAccountToken: false }),
    affinity: runOn === 'target' ? keptOn(node, affinity) : keptOff(node, affinity),
    ...(runOn === 'target' && { tolerations: [...listOf(spec['tolerations']), ...toleratedOf(order.target)] }),
    ...(spec['initContainers'] !== undefined && { initContainers: told('initContainers') }),
    containers: told('containers'),
  };
}

function withReferences(container: Fields, references: RemedyPod['references'], env: readonly { name: string; value: string }[]) {
  const own = references.filter((reference) => reference.container === container['name']);
  const from = own.flatMap(({ secrets, configMaps }) => [
    ...secrets.map((name) => ({ secretRef: { name } })),
    ...configMaps.map((name) => ({ configMapRef: { name } })),
  ]);
  const taken = new Set(env.map(({ name }) => name));
  const written = listOf(container['env']).filter(({ name }) => typeof name !== 'string' || !taken.has(name));
  const envFrom = [...listOf(container['envFrom']), ...from];
  return { ...(container as { name: string }), ...(envFrom.length > 0 && { envFrom }), env: [...written, ...env] };
}

function environmentOf({ intent, target: { condition, providerId, addresses } }: RemedyOrder): { name: string; value: string }[] {
  const told = {
    NODE_NAME: intent.node,
    NODE_CONDITION_TYPE: condition.type,
    NODE_CONDITION_STATUS: condition.status,
    NODE_CONDITION_REASON: condition.reason,
    PROVIDER_ID: providerId,
    NODE_ADDRESSES: addresses.join(','),
    REMEDY_NAME: intent.remedy,
    ATTEMPT: String(intent.attempt),
  };
  // Whoever writes a condition may write `$(PASSWORD)`, which a kubelet would fill in.
  return Object.entries(told).map(([name, value]) => ({ name, value: value.replaceAll('$', '$$$$') }));
}

function toleratedOf({ taints }: TargetFacts): { key: string; operator: string }[] {
  const keys = new Set([...TAINTS_OF_SICK_NODES, ...taints.map(({ key }) => key)]);
  keys.delete(OUT_OF_SERVICE);
  return [...keys].map((key) => ({ key, operator: 'Exists' }));
}

/** Names of all Secrets that the pod can read: their values may not be shown. */
export function secretsOf(template: { readonly spec: Fields }): string[] {
  const names = new Set<string>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value as unknown[]) look(item);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [key, item] of Object.entries(value as Fields)) {
      const name =
        key === 'secretName' ? item : ['secretRef', 'secretKeyRef', 'secret'].includes(key) ? (item as Fields | null)?.['name'] : undefined;
      if (typeof name === 'string') names.add(name);
      look(item);
    }
  };
  look(template.spec);
  return [...names].sort();
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item): item is Fields => typeof item === 'object' && item !== null) : [];
}

function wholeSeconds(durationMs: number): number {
  return Math.max(1, Math.floor(durationMs / 1_000));
}
