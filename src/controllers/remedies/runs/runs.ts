import type { RemedyRun } from '../../../domain/remedy/position.ts';
import type { Remedy } from '../../../domain/remedy/configuration.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Planner } from '../../../ports/planner.ts';
import type { Recorder } from '../../../ports/recorder.ts';
import { RemedyJobs } from '../job/jobs.ts';
import type { Evictions } from '../evictions.ts';
import { FenceRuns, RecoveryRuns } from './fence-runs.ts';
import { JobRuns } from './job-runs.ts';
import { CordonRuns, EvictRuns } from './node-runs.ts';
import type { RunContext, RunKind } from './run-kind.ts';

export interface RunParts {
  clock: Clock;
  cluster: Cluster;
  recorder: Recorder;
  evictions: Evictions;
  planner: Pick<Planner, 'planFor'>;
  namespace: string;
}

/** How each kind of remedy is carried out. */
export class Runs {
  readonly jobs: RemedyJobs;
  readonly #kinds: Readonly<Record<Remedy['kind'], RunKind>>;
  readonly #recovery: RunKind;

  constructor({ clock, cluster, recorder, evictions, planner, namespace }: RunParts) {
    this.jobs = new RemedyJobs(cluster, namespace);
    const fence = new FenceRuns(cluster, recorder, planner);
    this.#recovery = new RecoveryRuns(cluster);
    this.#kinds = {
      podTemplate: new JobRuns(this.jobs, clock, namespace),
      fence,
      planStep: fence,
      fenceMethods: fence,
      cordon: new CordonRuns(cluster),
      evict: new EvictRuns(cluster, evictions),
    };
  }

  of({ run, use }: Pick<RunContext, 'run' | 'use'>): RunKind {
    return isRecoveryStep(run, use) ? this.#recovery : this.#kinds[run.kind];
  }
}

/** The recovery step of a plan is no fence: it takes one back. */
function isRecoveryStep({ kind, remedy }: RemedyRun, use: RunContext['use']): boolean {
  if (kind !== 'planStep') return false;
  return use?.remedy.kind === 'planStep' ? use.remedy.step === 'recovery' : remedy === 'recovery';
}
