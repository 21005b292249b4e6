import type { Affinity } from '../domain/pod-placement.ts';
import type { Resource } from './cluster.ts';
import type { KubeObject, Pod } from './objects.ts';

/** corev1.PodSpec of a template, as far as it is read or written; the rest is handed on. */
export interface TemplateSpec {
  containers: { name: string; volumeMounts?: object[]; [more: string]: unknown }[];
  volumes?: { name: string; [more: string]: unknown }[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  automountServiceAccountToken?: boolean;
  affinity?: Affinity;
  tolerations?: { key?: string; operator?: string; effect?: string; [more: string]: unknown }[];
  [more: string]: unknown;
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: TemplateSpec;
}

/** batch/v1 Job. */
export interface BatchJob extends KubeObject {
  spec: {
    backoffLimit: number;
    activeDeadlineSeconds: number;
    ttlSecondsAfterFinished: number;
    template: PodTemplate;
  };
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] };
}

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: object;
  terminated?: { exitCode: number; reason?: string; message?: string };
}

interface ContainerStatus {
  name: string;
  state?: ContainerState;
}

/** A pod of a Job, with what its kubelet says of its containers. */
export interface JobPod extends Pod {
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

export const JOBS: Resource<BatchJob> = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };
export const JOB_PODS: Resource<JobPod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** No container of it runs, or will. */
export function isOver({ status }: JobPod): boolean {
  if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') return false;
  return (status.containerStatuses ?? []).every(({ state }) => state?.terminated !== undefined || state?.running === undefined);
}

/** The Job controller will start nothing more for it. */
export function isFinished({ status }: BatchJob): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'));
}
