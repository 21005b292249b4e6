import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/controllers/machine-remediation/actions.ts';
import { HOLD, POWERED_OFF, REQUEST, TIMES_OUT_AT } from '../../src/controllers/machine-remediation/names.ts';
import { canReprovision, healthCheckOf, isPowerOnTimedOut } from '../../src/controllers/machine-remediation/reprovision.ts';
import { timeText } from '../../src/controllers/shared/remediation/actions.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { EPOCH_MS, machine, MINUTE_MS, World } from './world.ts';

interface Setup {
  op: string;
  variant: string;
  nodeExists: boolean;
  needsRemediation: boolean;
  poweredOn: boolean;
  rebootAnnotation: boolean;
  poweredOffForRemediation: boolean;
  powerOffRequested: boolean;
  node: 'present' | 'absent';
  powerOnTimedOut: boolean;
  canReprovision: boolean;
  externallyProvisioned: boolean;
  controllerOwner: boolean;
  role: string;
  [timeout: string]: unknown;
}

interface Case {
  id: string;
  setup: Setup;
  expect: Record<string, unknown>;
}

const CASES = JSON.parse(readFileSync(new URL('fixtures/mrc-cases.json', import.meta.url), 'utf8')) as readonly Case[];
const TIMEOUT = 'annotation remediation.metal3.io/power-on-will-timeout-at';

/** In the words of the cases. */
function words(actions: readonly Action[]): string {
  for (const action of actions) {
    if (action.kind === 'delete-node') return 'deleteNode';
    if (action.kind === 'taint') throw new Error('no case has volumes');
    if (action.kind === 'delete-machine') return 'deleteMachine';
    if (action.kind === 'restore-node') return 'restoreNode';
    const hold = action.changes.find(({ key }) => key === HOLD);
    if (hold !== undefined) return hold.to === undefined ? 'removeRebootAnnotation' : 'addRebootAnnotation';
    if (action.changes.some(({ key, to }) => key === REQUEST && to === undefined)) return 'removeRemediationAnnotation';
  }
  return 'nothing';
}

function byTable(setup: Setup): World {
  const world = new World({ mode: 'seed-table', operator: new Operator({ isOn: setup.poweredOn }) });
  if (!setup.nodeExists) world.node = undefined;
  if (!setup.needsRemediation) world.unask();
  if (setup.rebootAnnotation) world.operator.annotations = { [HOLD]: '{"mode":"hard"}' };
  return world;
}

function byActuator(setup: Setup): World {
  const own = machine({ hasController: setup.canReprovision });
  const marked = setup.poweredOffForRemediation ? { [POWERED_OFF]: '' } : {};
  const deadline = setup.poweredOffForRemediation && !setup.powerOffRequested;
  const timeout = deadline ? { [TIMES_OUT_AT]: timeText(EPOCH_MS + (setup.powerOnTimedOut ? -MINUTE_MS : MINUTE_MS)) } : {};
  const world = new World({
    machine: { ...own, annotations: { ...own.annotations, ...marked, ...timeout } },
    operator: new Operator({ isOn: setup.poweredOn }),
  });
  if (setup.node === 'absent') world.node = undefined;
  if (!setup.needsRemediation) world.unask();
  if (setup.powerOffRequested) world.operator.annotations = { [HOLD]: '{"mode":"hard"}' };
  return world;
}

function actuatorOutcome(setup: Setup): Record<string, unknown> {
  const { actions, nextDueMs } = byActuator(setup).decide();
  const said = words(actions);
  const [first] = actions.flatMap((action) => (action.kind === 'annotate' && action.target.kind === 'Machine' ? action.changes : []));
  const action = { removeRebootAnnotation: 'requestPowerOn', nothing: nextDueMs === undefined ? 'nothing' : 'wait' }[said] ?? said;
  const requeueAfterSeconds = nextDueMs === undefined ? undefined : (nextDueMs - EPOCH_MS) / 1000;
  return { action, machineAnnotation: first?.key, requeueAfterSeconds };
}

function decided({ setup }: Case): Record<string, unknown> {
  return setup.variant === 'seed-table' ? { action: words(byTable(setup).decide().actions) } : actuatorOutcome(setup);
}

function simulated(): Record<string, unknown> {
  const world = new World({ mode: 'seed-table', bootMs: 5 * MINUTE_MS, asksEveryMs: 50_000 });
  world.run(60 * MINUTE_MS);
  const converges = world.node !== undefined && world.operator.offs === 1;
  return { converges, note: converges ? '' : 'host is powered off again before the node can register' };
}

function outcome(each: Case): Record<string, unknown> {
  const { setup } = each;
  switch (setup.op) {
    case 'decide':
      return decided(each);
    case 'simulate':
      return simulated();
    case 'isPowerOnTimedOut': {
      const hours = Number.parseInt(String(setup[TIMEOUT]), 10);
      return { timedOut: isPowerOnTimedOut({ [TIMES_OUT_AT]: timeText(EPOCH_MS + hours * 60 * MINUTE_MS) }, EPOCH_MS) };
    }
    case 'canReprovision': {
      const labels = { 'machine.openshift.io/cluster-api-machine-role': setup.role };
      return { result: canReprovision({ labels, hasController: setup.controllerOwner }, { isExternallyProvisioned: setup.externallyProvisioned }) };
    }
    default: {
      const matchLabels = { role: 'worker' };
      const checks = [
        { name: 'mhc-matching-selector', namespace: 'machines', selector: { matchLabels } },
        { name: 'a-wrong-namespace', namespace: 'elsewhere', selector: { matchLabels } },
        { name: 'b-wrong-selector', namespace: 'machines', selector: { matchLabels: { role: 'other' } } },
      ];
      return { mhc: healthCheckOf(machine({ labels: matchLabels }), checks)?.name };
    }
  }
}

describe('what is asked of machine remediation, and what its implementations do', () => {
  it.each(CASES.map((each) => ({ id: each.id, each })))('$id', ({ each }) => {
    expect(outcome(each)).toMatchObject(each.expect);
  });

  it('has all 17 cases', () => {
    expect(CASES).toHaveLength(17);
  });
});

describe('the health check that says how long a node may take to start', () => {
  const own = machine({ labels: { role: 'worker' } });
  it.each([
    ['In', { operator: 'In', values: ['worker'] }, true],
    ['In', { operator: 'In', values: ['other'] }, false],
    ['NotIn', { operator: 'NotIn', values: ['worker'] }, false],
    ['Exists', { operator: 'Exists' }, true],
    ['DoesNotExist', { operator: 'DoesNotExist' }, false],
    ['something unheard of', { operator: 'Near' }, false],
  ])('is selected by %s', (_what, expression, isSelected) => {
    const check = { name: 'c', namespace: 'machines', selector: { matchExpressions: [{ key: 'role', ...expression }] } };
    expect(healthCheckOf(own, [check]) !== undefined).toBe(isSelected);
  });
});
