import { describe, expect, it } from 'vitest';
import { READ_BACK_EVIDENCE } from './evidence.ts';
import type { Plan, PlanMethod } from './plan.ts';
import { method, Model, planOf } from './testing/model.ts';

const BMC = method('bmc', 'redfish', 'reboot', { device: 'bmc' });
const DOG = method('dog', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog', runMaxMs: 120_000 });
const END = method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1' });

/** Power-management of these levels, in this order; nothing is repeated. */
function planWith(levels: readonly (readonly PlanMethod[])[], more: Partial<Plan> = {}): Plan {
  const powerManagement = levels.map((methods, index) => ({ level: index + 1, methods }));
  return planOf({ powerManagement, minimumEvidence: [...READ_BACK_EVIDENCE, 'watchdog'], stepRetries: 0, maxRestarts: 0, ...more });
}

function isolated(plan: Plan): Model {
  const model = new Model(plan);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

/** What the first level has come to before its last run fails: off, and all let go. */
function released(model: Model, off: string): void {
  expect([model.next(), model.next()]).toEqual([off, 'release:release']);
  model.step();
  model.drained();
  expect(model.next()).toBe('release-end:release-end');
}

/** The next run, or `failed`: a person is asked for. */
function nextOrEnd(model: Model): string | undefined {
  model.runUntil(() => model.inFlight.size > 0 || model.status.outcome === 'failed');
  return model.inFlight.size > 0 ? model.dispatched.at(-1)?.entry.operation : model.status.outcome;
}

describe('the level after one whose offs were done', () => {
  it('may delete what the one before could not switch on again', () => {
    const model = isolated(planWith([[BMC], [DOG], [END]]));
    released(model, 'off:bmc');
    expect(model.next('timeout')).toBe('on:bmc');
    expect([nextOrEnd(model), model.status.level]).toEqual(['off:end', 3]);
  });

  it('is not one that only proves, where the one before could not delete the machine: nobody meant it to stay off', () => {
    const after = (...levels: PlanMethod[][]): [string | undefined, string] => {
      const model = isolated(planWith([[END], ...levels]));
      released(model, 'off:end');
      expect(model.next('refused')).toBe('delete:end');
      return [nextOrEnd(model), model.status.message ?? ''];
    };
    expect(after([DOG])).toEqual(['failed', expect.stringMatching(/power-management: refused.*LeftOff: end \(aws cloud i-1\)/)]);
    expect(after([DOG], [BMC])[0]).toBe('off:bmc');
    expect(after([method('off', 'redfish', 'off', { device: 'bmc' })])[0]).toBe('off:off');
  });
});
