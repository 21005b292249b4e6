import type { Resource } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import type { PodTemplateSpec } from '../kinds.ts';

export interface JobCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string;
  lastTransitionTime?: string;
}

/** batch/v1 Job of one pod. */
export interface WorldJob extends KubeObject {
  spec: {
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: PodTemplateSpec };
  };
  status?: { startTime?: string; completionTime?: string; active?: number; succeeded?: number; failed?: number; conditions?: JobCondition[] };
}

export const WORLD_JOBS: Resource<WorldJob> = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };

/** When it ended, and how; undefined: it has not. */
export function endOf({ status }: WorldJob): JobCondition | undefined {
  return status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True');
}
