import type { BatchJob, JobPod } from '../../../ports/batch.ts';

/** What became of a remedy's Job. Its success says nothing of the node: whether that is well, or gone, is read elsewhere. */
export type RemedyOutcome =
  | { state: 'running'; pod?: string }
  | { state: 'succeeded'; pod?: string }
  /** `mustGo`: it may still act, and is to be deleted. */
  | { state: 'failed'; message: string; mustGo: boolean; pod?: string };

export interface RemedyWatch {
  node: string;
  runOn: 'other' | 'target';
  /** By our clock, since its intent was written. */
  ageMs: number;
  deadlineMs: number;
}

/** Beyond its deadline the Job controller may be late, and its pods have a grace. */
const LATE_MS = 60_000;

/** `job` undefined: it is gone. */
export function remedyOutcome(job: BatchJob | undefined, pods: readonly JobPod[], watch: RemedyWatch): RemedyOutcome {
  const [pod] = pods;
  const named = pod === undefined ? {} : { pod: pod.metadata.name };
  const misplaced = watch.runOn === 'other' && pods.find(({ spec }) => spec.nodeName === watch.node);
  if (misplaced) {
    const message = `pod ${misplaced.metadata.name} was put on ${watch.node}, the very node that it is for`;
    return { state: 'failed', message, mustGo: true, ...named };
  }
  if (job === undefined) return { state: 'failed', message: 'somebody has deleted its Job', mustGo: false, ...named };
  const ended = (job.status?.conditions ?? []).find(({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'));
  if (ended?.type === 'Complete') return { state: 'succeeded', ...named };
  if (ended !== undefined) {
    const words = [ended.reason, ended.message].filter((text) => text !== undefined && text !== '').join(': ');
    return { state: 'failed', message: words === '' ? 'its Job has failed' : words, mustGo: false, ...named };
  }
  if (watch.ageMs <= watch.deadlineMs + LATE_MS) return { state: 'running', ...named };
  const message = `its Job has not ended ${Math.round((watch.ageMs - watch.deadlineMs) / 1_000)} s after its deadline`;
  return { state: 'failed', message, mustGo: true, ...named };
}
