import { describe, expect, it } from 'vitest';
import { aThreshold, aUse } from '../../../domain/remedy/testing/thresholds.ts';
import type { RemedyPosition } from '../../../domain/remedy/position.ts';
import type { BatchJob } from '../../../ports/batch.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { remedyOutcome } from '../job/outcome.ts';
import { RemedyJobs } from '../job/jobs.ts';
import { NodeMemory } from '../memory.ts';
import { JobRuns } from './job-runs.ts';
import type { RunContext } from './run-kind.ts';

const JOB: BatchJob = {
  metadata: { name: 'nr-mend-1', uid: 'j-1' },
  spec: { backoffLimit: 0, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 60, template: { spec: { containers: [] } } },
};

/** A run that is written down, and whose Job a person may delete. */
class OneRun {
  job: BatchJob | undefined;
  readonly #runs: JobRuns;
  readonly #context: RunContext;

  constructor(phase: RemedyPosition['phase']) {
    const jobs: Partial<RemedyJobs> = {
      find: () => Promise.resolve(this.job),
      observe: (_intent, _uid, watch) => Promise.resolve(remedyOutcome(this.job, [], { ...watch, node: 'a' })),
      isQuiet: () => Promise.resolve(true),
    };
    this.#runs = new JobRuns(Object.assign(Object.create(RemedyJobs.prototype) as RemedyJobs, jobs), new ManualClock(), 'fence');
    const use = aUse('mend', { remedy: { kind: 'podTemplate', template: { spec: {} }, references: [], runOn: 'other' } });
    const threshold = aThreshold({ remedies: [use] });
    const run = { id: 'e-1-1-1', remedy: 'mend', kind: 'podTemplate', of: 1 } as const;
    const position = { threshold: threshold.id, episode: 'e', phase, attempt: 1, rung: 1, serial: 1, hasActed: false, run };
    this.#context = { node: { metadata: { name: 'a', uid: 'n-1' }, spec: {}, status: {} }, memory: new NodeMemory(), position, run, threshold, use };
  }

  async outcome(): Promise<string> {
    return (await this.#runs.observe(this.#context)).outcome;
  }
}

describe('a remedy that is a Job', () => {
  it('is absent before it was begun: then it is begun', async () => {
    expect(await new OneRun('starting').outcome()).toBe('absent');
  });

  it('is not begun again when its Job was seen, and a person deleted it, though the answer to its creation was lost', async () => {
    const one = new OneRun('starting');
    one.job = JOB;
    expect(await one.outcome()).toBe('running');
    one.job = undefined;
    expect(await one.outcome()).toBe('failed');
  });

  it('is lost when its Job is gone that was written down as seen', async () => {
    expect(await new OneRun('running').outcome()).toBe('absent');
  });
});
