import { createHash } from 'node:crypto';

import { parse } from 'yaml';

import { keptOff } from '../../src/domain/pod-placement.ts';
import type { BatchJob, PodTemplate, TemplateSpec } from '../../src/ports/batch.ts';
import { ACTION_ANNOTATION, ARGUMENTS_ANNOTATION, DEVICE_LABEL, INTENT_ANNOTATION, JOB_LABEL, NODE_ANNOTATION, type JobAction } from './objects.ts';
import { podTemplateSchema } from './parameters.ts';

const CALL_FOLDER = '/run/nodefence/call';
const SECRET_FOLDER = '/run/nodefence/secret';
/** Long enough to look at it in the morning. */
const KEPT_SECONDS = 3_600;
/** A program that does not end when it is told to may act for so long after the deadline. */
const GRACE_SECONDS = 2;
const SLUG_MAX = 40;
const HASH_LENGTH = 12;
const UUID = /-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What one Job is for. */
export interface JobOrder {
  namespace: string;
  node: string;
  action: JobAction;
  device: string;
  plug: string;
  /** Journal id, or what stands for it. */
  intent: string;
  /** Beyond `intent`, where one intent has several Jobs. */
  serial: string;
  arguments: readonly string[];
  secret: string | undefined;
  deadlineMs: number;
}

/** A pod template of an admin. Throws an `Error` that says what is wrong with it. */
export function templateOf(text: string): PodTemplate {
  const written: unknown = parse(text, { maxAliasCount: 10, logLevel: 'error' });
  const isWrapped = typeof written === 'object' && written !== null && 'podTemplate' in written;
  const parsed = podTemplateSchema.safeParse(isWrapped ? written.podTemplate : written);
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
  const template = parsed.data as PodTemplate;
  const taken = [...(template.spec.volumes ?? [])].find(({ name }) => name.startsWith('nodefence-'));
  if (taken !== undefined) throw new Error(`spec.volumes ${taken.name}: names that begin with nodefence- are taken`);
  return template;
}

/** The same for one intent and action, so that it can only be created once. */
export function jobName({ intent, serial, action, device, plug }: JobOrder): string {
  const method = intent
    .replace(UUID, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  const slug = method.slice(0, SLUG_MAX).replaceAll(/^-+|-+$/g, '');
  return `nf-${slug === '' ? 'job' : slug}-${hashOf([intent, serial, action, device, plug])}`;
}

/** Label value for one plug of one device. */
export function deviceLabel({ device, plug }: Pick<JobOrder, 'device' | 'plug'>): string {
  return hashOf([device, plug]);
}

/** The Job: never on its target, once, bounded in time, its secret only as files. */
export function jobOf(order: JobOrder, template: PodTemplate): BatchJob {
  const name = jobName(order);
  const labels = { [JOB_LABEL]: name, [DEVICE_LABEL]: deviceLabel(order) };
  const annotations = { [NODE_ANNOTATION]: order.node, [ACTION_ANNOTATION]: order.action, [INTENT_ANNOTATION]: order.intent };
  const text = order.arguments.map((line) => `${line}\n`).join('');
  return {
    metadata: { name, namespace: order.namespace, labels, annotations },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: wholeSeconds(order.deadlineMs),
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: {
        ...template,
        metadata: {
          labels: { ...template.metadata?.labels, ...labels },
          annotations: { ...template.metadata?.annotations, ...annotations, [ARGUMENTS_ANNOTATION]: text },
        },
        spec: podSpec(order, template.spec),
      },
    },
  };
}

function podSpec({ node, secret, deadlineMs }: JobOrder, spec: TemplateSpec): TemplateSpec {
  const callVolume = {
    name: 'nodefence-call',
    downwardAPI: { items: [{ path: 'arguments', fieldRef: { fieldPath: `metadata.annotations['${ARGUMENTS_ANNOTATION}']` } }] },
  };
  const secretVolume = { name: 'nodefence-secret', secret: { secretName: secret } };
  const volumes = secret === undefined ? [callVolume] : [callVolume, secretVolume];
  const mounts = volumes.map(({ name }) => ({ name, mountPath: name === callVolume.name ? CALL_FOLDER : SECRET_FOLDER, readOnly: true }));
  return {
    ...spec,
    restartPolicy: 'Never',
    // Of the pod too: that one its kubelet keeps by itself, when it hears of no deletion.
    activeDeadlineSeconds: wholeSeconds(deadlineMs),
    automountServiceAccountToken: spec.automountServiceAccountToken ?? false,
    terminationGracePeriodSeconds: Math.min(spec.terminationGracePeriodSeconds ?? GRACE_SECONDS, GRACE_SECONDS),
    affinity: keptOff(node, spec.affinity),
    volumes: [...(spec.volumes ?? []), ...volumes],
    containers: spec.containers.map((container) => ({ ...container, volumeMounts: [...(container.volumeMounts ?? []), ...mounts] })),
  };
}

function wholeSeconds(durationMs: number): number {
  return Math.max(1, Math.floor(durationMs / 1_000));
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, HASH_LENGTH);
}
