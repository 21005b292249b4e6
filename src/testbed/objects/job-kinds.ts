import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject, Pod } from '../../ports/objects.ts';

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

interface Volume {
  name: string;
  [more: string]: unknown;
  secret?: { secretName?: string };
  downwardAPI?: { items?: { path: string; fieldRef?: { fieldPath: string } }[] };
}

/** corev1.PodSpec, as far as a scheduler and a kubelet need it for one program. */
export interface ProgramPodSpec {
  containers: { name: string; [more: string]: unknown }[];
  [more: string]: unknown;
  volumes?: Volume[];
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: { matchExpressions?: NodeSelectorRequirement[]; matchFields?: NodeSelectorRequirement[] }[];
      };
    };
  };
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** batch/v1, of one pod. */
export interface ProgramJob extends KubeObject {
  spec: {
    backoffLimit: number;
    activeDeadlineSeconds: number;
    ttlSecondsAfterFinished: number;
    template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: ProgramPodSpec };
  };
  status?: { conditions?: Condition[] };
}

export interface ProgramPod extends Pod {
  spec: Pod['spec'] & ProgramPodSpec;
  status?: { phase?: string; reason?: string; message?: string; conditions?: Condition[]; containerStatuses?: { name: string; state: object }[] };
}

export const JOBS: Resource<ProgramJob> = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };
export const JOB_PODS: Resource<ProgramPod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** The Job controller starts nothing more for it. */
export function isFinished({ status }: ProgramJob): boolean {
  return status?.conditions?.some(({ type, status: value }) => ['Complete', 'Failed'].includes(type) && value === 'True') === true;
}

/** Content of a file that the pod's volumes project from its own annotations: the downward API. */
export function projected({ metadata, spec }: ProgramJob['spec']['template'], path: string): string {
  const items = (spec.volumes ?? []).flatMap(({ downwardAPI }) => downwardAPI?.items ?? []);
  const field = items.find((item) => item.path === path)?.fieldRef?.fieldPath ?? '';
  const key = /^metadata\.annotations\['(.+)'\]$/.exec(field)?.[1];
  return key === undefined ? '' : (metadata?.annotations?.[key] ?? '');
}
