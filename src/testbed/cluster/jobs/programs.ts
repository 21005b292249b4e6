import { timestamp } from '../../../ports/clock.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { WorldPod } from '../kinds.ts';

/** How a pod that runs once has ended, as its kubelet says it. */
export interface Ended {
  phase: 'Succeeded' | 'Failed';
  reason?: string;
  message?: string;
  terminated: { exitCode: number; reason: string; startedAt: string; finishedAt: string };
}

interface Run {
  startedAt: string;
  /** Monotonic: when the program ends by itself, and when the pod's own deadline is over. */
  endsAtMs: number;
  deadlineAtMs: number;
  exitCode: number;
}

/** What a scene's programs do, by the name of their image: `drill/succeed`. */
const PROGRAMS: Readonly<Record<string, { exitCode: number; afterMs: number }>> = {
  succeed: { exitCode: 0, afterMs: 500 },
  fail: { exitCode: 1, afterMs: 500 },
  'succeed-slowly': { exitCode: 0, afterMs: 8_000 },
  hang: { exitCode: 0, afterMs: Infinity },
};
const KILLED = 137;

/** The programs of pods that run once, on one kubelet in one boot. Any other pod runs until it is stopped. */
export class Programs {
  readonly #clock: Clock;
  readonly #runs = new Map<string, Run>();
  /** What was said of those that have ended: it stays so. */
  readonly #said = new Map<string, Ended>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  began(pod: WorldPod): void {
    if (pod.spec.restartPolicy !== 'Never') return;
    const nowMs = this.#clock.monotonicMs();
    const { exitCode = 0, afterMs = Infinity } = PROGRAMS[programOf(pod)] ?? {};
    const { activeDeadlineSeconds = Infinity } = pod.spec;
    const deadlineAtMs = nowMs + 1_000 * activeDeadlineSeconds;
    this.#runs.set(pod.metadata.uid ?? '', { startedAt: timestamp(this.#clock), endsAtMs: nowMs + afterMs, deadlineAtMs, exitCode });
  }

  /** Undefined: it runs, or has yet to begin. */
  endOf(pod: WorldPod, isRunning: boolean): Ended | undefined {
    if (pod.spec.restartPolicy !== 'Never') return undefined;
    const uid = pod.metadata.uid ?? '';
    const ended = this.#said.get(uid) ?? this.#endNow(pod, isRunning, this.#runs.get(uid));
    if (ended !== undefined) this.#said.set(uid, ended);
    return ended;
  }

  #endNow(pod: WorldPod, isRunning: boolean, run: Run | undefined): Ended | undefined {
    if (run === undefined || !isRunning) {
      // It was begun in another boot: nothing of it is left, and it is not begun again.
      const hasRun = pod.status?.phase === 'Running';
      return hasRun ? this.#ended('Failed', KILLED, 'ContainerStatusUnknown', timestamp(this.#clock)) : undefined;
    }
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= run.deadlineAtMs && run.deadlineAtMs < run.endsAtMs) {
      const told = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };
      return { ...this.#ended('Failed', KILLED, 'Error', run.startedAt), ...told };
    }
    if (nowMs < run.endsAtMs) return undefined;
    return run.exitCode === 0 ? this.#ended('Succeeded', 0, 'Completed', run.startedAt) : this.#ended('Failed', run.exitCode, 'Error', run.startedAt);
  }

  /** Until time alone ends it. */
  waitMs(podUid: string): number | undefined {
    const run = this.#runs.get(podUid);
    const atMs = Math.min(run?.endsAtMs ?? Infinity, run?.deadlineAtMs ?? Infinity);
    return atMs === Infinity ? undefined : Math.max(0, atMs - this.#clock.monotonicMs());
  }

  keepOnly(podUids: ReadonlySet<string | undefined>): void {
    for (const kept of [this.#runs, this.#said]) for (const uid of [...kept.keys()]) if (!podUids.has(uid)) kept.delete(uid);
  }

  #ended(phase: Ended['phase'], exitCode: number, reason: string, startedAt: string): Ended {
    return { phase, terminated: { exitCode, reason, startedAt, finishedAt: timestamp(this.#clock) } };
  }
}

function programOf({ spec }: WorldPod): string {
  const image = spec.containers?.[0]?.image ?? '';
  return image.replace(/[:@].*$/, '').replace(/^.*\//, '');
}
