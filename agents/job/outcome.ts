import type { AgentErrorKind } from '../../src/ports/agents.ts';
import type { BatchJob, JobPod } from '../../src/ports/batch.ts';
import { lookup } from '../../src/domain/lookup.ts';

/** What became of a Job so far, in the words of those who run it. */
export type JobOutcome = { message: string; hasBegun: boolean } & (
  | { state: 'going' }
  | { state: 'exited'; code: number; pod: string }
  | { state: 'failed'; kind: AgentErrorKind }
);

/** Reasons of a container that waits and will wait on. A registry may come back; a name or a missing key will not mend itself. Source: kubelet, pkg/kubelet/images/types.go and kuberuntime. */
const WAITS_FOR_GOOD: Readonly<Record<string, AgentErrorKind>> = {
  ErrImagePull: 'Unreachable',
  ImagePullBackOff: 'Unreachable',
  RegistryUnavailable: 'Unreachable',
  ErrImageNeverPull: 'Misconfigured',
  ImageInspectError: 'Misconfigured',
  InvalidImageName: 'Misconfigured',
  CreateContainerConfigError: 'Misconfigured',
  CreateContainerError: 'Misconfigured',
  RunContainerError: 'Misconfigured',
};

interface Watched {
  container: string;
  /** It may never run there. */
  node: string;
}

/** One pod is to end by itself, once. `job` undefined: it is gone. */
export function jobOutcome(job: BatchJob | undefined, pods: readonly JobPod[], { container, node }: Watched): JobOutcome {
  const misplaced = pods.find(({ spec }) => spec.nodeName === node);
  if (misplaced !== undefined)
    return failed('Refused', `pod ${misplaced.metadata.name} was put on ${node}, the very node that it is for`, pods.some(hasBegun));
  const [pod, ...others] = pods;
  if (others.length > 0) return failed('Unreachable', `${pods.length} pods of it were started, and what each of them did is not known`, true);
  return (pod === undefined ? undefined : endOf(pod, container)) ?? endOfJob(job, pod) ?? { state: 'going', ...stateOf(pod, container) };
}

function endOf(pod: JobPod, container: string): JobOutcome | undefined {
  const { name } = pod.metadata;
  const { phase, reason = '', message } = pod.status ?? {};
  // Evicted, preempted, of a lost node: somebody else ended it, wherever it was.
  if (phase === 'Failed' && reason !== '')
    return failed(reason === 'DeadlineExceeded' ? 'Timeout' : 'Unreachable', `pod ${name}: ${said(reason, message)}`, hasBegun(pod));
  const ended = statusOf(pod, container)?.terminated;
  if (ended !== undefined)
    return { state: 'exited', code: ended.exitCode, pod: name, message: said(`exit code ${ended.exitCode}`, exitReason(ended)), hasBegun: true };
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { name: which, state } of statuses) {
    const waits = state?.waiting;
    const kind = lookup(WAITS_FOR_GOOD, waits?.reason ?? '');
    if (kind !== undefined) return failed(kind, `pod ${name}, container ${which}: ${said(waits?.reason ?? '', waits?.message)}`, hasBegun(pod));
  }
  if (phase !== 'Failed' && phase !== 'Succeeded') return undefined;
  const broken = statuses.find(({ state }) => state?.terminated !== undefined && state.terminated.exitCode !== 0);
  const first = broken === undefined ? '' : `, container ${broken.name} ended with exit code ${broken.state?.terminated?.exitCode}`;
  return failed('Unreachable', `pod ${name} is ${phase}${first}, and nothing is known of container ${container}`, true);
}

function endOfJob(job: BatchJob | undefined, pod: JobPod | undefined): JobOutcome | undefined {
  const began = pod !== undefined && hasBegun(pod);
  if (job === undefined) return failed('Unreachable', 'somebody has deleted it', began);
  const condition = (job.status?.conditions ?? []).find(({ type, status }) => type === 'Failed' && status === 'True');
  if (condition === undefined) return undefined;
  const { reason = 'Failed', message } = condition;
  return failed(reason === 'DeadlineExceeded' ? 'Timeout' : 'Unreachable', said(reason, message), began);
}

function stateOf(pod: JobPod | undefined, container: string): { message: string; hasBegun: boolean } {
  if (pod === undefined) return { message: 'no pod was made for it yet', hasBegun: false };
  const { name, deletionTimestamp } = pod.metadata;
  const waits = statusOf(pod, container)?.waiting;
  const unplaced = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const what =
    waits?.reason !== undefined
      ? said(waits.reason, waits.message)
      : unplaced !== undefined
        ? said(unplaced.reason ?? 'not scheduled', unplaced.message)
        : (pod.status?.phase ?? 'Pending');
  const where = pod.spec.nodeName === undefined ? '' : ` on ${pod.spec.nodeName}`;
  return { message: `pod ${name}${where}: ${what}${deletionTimestamp === undefined ? '' : ', terminating'}`, hasBegun: hasBegun(pod) };
}

function statusOf(pod: JobPod, container: string) {
  return pod.status?.containerStatuses?.find(({ name }) => name === container)?.state;
}

function exitReason({ reason = '', message }: { reason?: string; message?: string }): string | undefined {
  if (reason === '' || reason === 'Completed' || reason === 'Error') return message;
  return message === undefined ? reason : said(reason, message);
}

/** Something of it runs or ran; a pod on a node may have begun before its kubelet says so. */
function hasBegun(pod: JobPod): boolean {
  const states = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(({ state }) => state);
  if (states.some((state) => state?.running !== undefined || state?.terminated !== undefined)) return true;
  return pod.spec.nodeName !== undefined && !states.some((state) => state?.waiting !== undefined);
}

function failed(kind: AgentErrorKind, message: string, begun: boolean): JobOutcome {
  return { state: 'failed', kind, message, hasBegun: begun };
}

function said(what: string, more: string | undefined): string {
  return more === undefined || more === '' ? what : `${what}: ${more}`;
}
