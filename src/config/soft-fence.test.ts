import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { Plan } from '../domain/plan.ts';
import { compile } from '../domain/program.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';

function plan(properties: string, methods: Record<string, string>): Plan {
  const data = {
    'config.properties': properties,
    ...Object.fromEntries(Object.entries(methods).map(([name, text]) => [`fence-method-${name}`, text])),
  };
  const configuration = configurationOf([{ name: 'fence-config-worker-1', data }], standardRegistry());
  return resolvePlan({ node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] }, configuration });
}

const errors = ({ problems }: Plan): string[] => problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
const REBOOT = 'agent_name=node-daemon\naction=reboot';
const KUBELET = 'agent_name=node-daemon\naction=restart-kubelet\nwait=1m';
const OFF = 'agent_name=watchdog';
const ADMITTED = 'minimum_evidence=power-off,watchdog\n';

describe('an order to the daemon of a node', () => {
  it('may isolate, and takes as long as it is told to', () => {
    const resolved = plan(`${ADMITTED}isolation=kubelet,boot\npower_management=off`, { kubelet: KUBELET, boot: REBOOT, off: OFF });
    expect(errors(resolved)).toEqual([]);
    expect(resolved.isolation[0]?.methods).toMatchObject([
      { agent: 'node-daemon', kind: 'action', action: 'run', parameters: { action: 'restart-kubelet', wait: '1m' }, runMaxMs: 60_000 },
      { agent: 'node-daemon', action: 'run', parameters: { action: 'reboot' }, runMaxMs: 30_000 },
    ]);
    expect(resolved.isolation[0]?.methods.every(({ evidence }) => evidence === undefined)).toBe(true);
  });

  it.each([
    ['a reboot', REBOOT],
    ['a restart', KUBELET],
  ])('never stands in the place of an off: %s', (_, method) => {
    const resolved = plan(`${ADMITTED}power_management=soft\npower_management.2=off`, { soft: method, off: OFF });
    expect(errors(resolved)).toEqual([
      'soft may not stand in power_management: what the daemon of a node answers proves nothing, and a node that boots anew may write again before anybody has looked; put it into isolation, and a method that proves the node off here',
    ]);
    expect(
      compile(resolved, 'power-management', 1).map(({ phase }) => phase),
      'nothing is released on it',
    ).toEqual(['run']);
  });

  it('may restart the kubelet of a node that came back, and not take that node down again', () => {
    expect(errors(plan(`${ADMITTED}power_management=off\nrecovery=kubelet`, { kubelet: KUBELET, off: OFF }))).toEqual([]);
    expect(errors(plan(`${ADMITTED}power_management=off\nrecovery=boot`, { boot: REBOOT, off: OFF }))).toEqual([
      'boot may not stand in recovery: recovery may not take the node down again; put it into isolation',
    ]);
  });

  it.each([
    ['no action', 'agent_name=node-daemon', 'action is missing'],
    ['off', 'agent_name=node-daemon\naction=off', 'action must be one of restart-kubelet, restart-container-runtime, reboot'],
    ['run', 'agent_name=node-daemon\naction=run', 'action must be one of restart-kubelet, restart-container-runtime, reboot'],
    ['a wait that is no time', 'agent_name=node-daemon\naction=reboot\nwait=1h', 'wait must be from 5s to 5m'],
  ])('says what is wrong: %s', (_, method, words) => {
    expect(errors(plan(`${ADMITTED}isolation=soft\npower_management=off`, { soft: method, off: OFF })).join()).toContain(words);
  });
});
