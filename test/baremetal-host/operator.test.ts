import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readReboot, rebootOf } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Operator, switchPower } from './operator.ts';
import type { Bmc, PowerQuestion } from './operator.ts';

interface Setup extends PowerQuestion {
  op: string;
  annotations?: Record<string, string>;
  expectForce: boolean;
  poweredOn?: boolean;
  bmc?: 'unreachable';
  hostUpdatePolicy?: 'onReboot';
  firmwareChangePending?: boolean;
}

interface Case {
  id: string;
  setup: Setup;
  expect: Record<string, unknown> & { steps?: string[] };
}

const CASES = JSON.parse(readFileSync(new URL('fixtures/bmh-reboot-cases.json', import.meta.url), 'utf8')) as readonly Case[];
const MINUTE_MS = 60_000;

/** Lets the operator work through what a case describes; clients take their annotations away once it is off. */
function sequence({ annotations, poweredOn, bmc, hostUpdatePolicy, firmwareChangePending }: Setup): string[] {
  const kind: Bmc = bmc === 'unreachable' ? 'silent' : 'well';
  const options = { annotations: annotations ?? {}, isOn: poweredOn ?? true, bmc: kind, isFirmwareChangePending: firmwareChangePending === true };
  const operator = new Operator({ ...options, ...(hostUpdatePolicy !== undefined && { hostUpdatePolicy }) });
  operator.advance(5 * MINUTE_MS);
  for (const key of Object.keys(operator.annotations)) {
    const { [key]: _gone, ...rest } = operator.annotations;
    operator.steps.push(`client ${key.split('/')[1] ?? ''} removes`);
    operator.annotate(rest);
    operator.advance(operator.nowMs + MINUTE_MS);
    if (!operator.isOn) operator.steps.push('stays off');
  }
  operator.advance(operator.nowMs + 10 * MINUTE_MS);
  return operator.steps.length === 0 && operator.told ? ['poweredOn stays true'] : operator.steps;
}

function outcome({ setup }: Case): Record<string, unknown> {
  switch (setup.op) {
    case 'hasReboot': {
      const asked = rebootOf(setup.annotations ?? {});
      return { reboot: asked !== undefined && asked.isForced === setup.expectForce, mode: asked?.mode };
    }
    case 'clear': {
      const operator = new Operator({ annotations: setup.annotations ?? {}, isOn: false });
      operator.advance(0);
      return { annotations: operator.annotations, dirty: operator.resourceVersion > 1 };
    }
    case 'sequence':
      return { steps: sequence(setup) };
    case 'powerOn':
      return { ...switchPower('on', setup) };
    case 'powerOff':
      return { ...switchPower('off', setup) };
    default:
      return {
        valid: Object.values(setup.annotations ?? {}).every((value) => readReboot(value) !== undefined),
        errorContains: 'failed to unmarshal',
      };
  }
}

describe('the reboot API, as the baremetal-operator implements it', () => {
  it.each(CASES.map((each) => ({ id: each.id, each })))('$id', ({ each }) => {
    expect(outcome(each)).toMatchObject(each.expect);
  });

  it('has all 16 cases', () => {
    expect(CASES).toHaveLength(16);
  });

  it('does not look again for minutes after errors, and longer each time', () => {
    const operator = new Operator({ bmc: 'failing' });
    operator.advance(13 * MINUTE_MS);
    expect(operator).toMatchObject({ errorCount: 3, errorType: 'power management error', told: true });
    operator.bmc = 'well';
    operator.annotate({ 'reboot.metal3.io/a': '{"mode":"hard"}' });
    operator.advance(13.9 * MINUTE_MS);
    expect(operator.offs).toBe(0);
    operator.advance(15 * MINUTE_MS);
    expect(operator).toMatchObject({ offs: 1, isOn: false, errorType: '' });
  });

  it.each(['[]', '1', 'null', '{"mode":"gentle"}', '{"force":1}', '{'])('refuses the value %s', (value) => {
    expect(readReboot(value)).toBeUndefined();
  });

  it('reads force, and an empty mode as soft', () => {
    expect(readReboot('{"mode":"","force":true}')).toEqual({ mode: 'soft', isForced: true });
  });

  it('counts an unreadable annotation as soft, beside a hard one of somebody else', () => {
    expect(rebootOf({ 'reboot.metal3.io/a': 'uid', 'reboot.metal3.io/b': '{"mode":"hard"}' })).toEqual({ mode: 'hard', isForced: false });
    expect(rebootOf({ 'reboot.metal3.iox': '' })).toBeUndefined();
  });
});
