import type { AgentDefinition, PowerAgent, PowerState, Target } from '../../src/ports/agents.ts';
import { threadCpuMs } from './api-calls.ts';

/** A call that reached a simulated device. `at`: milliseconds since 1970 on this machine's clock, when it was answered. */
export interface DeviceCall {
  at: number;
  /** Spent by the thread of the controller until then. */
  cpuMs: number;
  node: string;
  action: 'read' | 'set';
  /** Shown by a read, or what was set. */
  state: 'on' | 'off';
}

/** Machines in memory behind an agent of their own: they obey at once, and every call is recorded. */
export function simulatedDevices(onCall: (call: DeviceCall) => void): AgentDefinition {
  const power = new Map<string, 'on' | 'off'>();
  const record = (target: Target, action: DeviceCall['action'], state: 'on' | 'off'): void => {
    onCall({ at: performance.timeOrigin + performance.now(), cpuMs: threadCpuMs(), node: target.identity.node, action, state });
  };
  const agent: PowerAgent = {
    kind: 'power',
    read: (target) => {
      const state: PowerState & ('on' | 'off') = power.get(target.device) ?? 'on';
      record(target, 'read', state);
      return Promise.resolve({ state, detail: `power is ${state}`, identity: 'verified' });
    },
    set: (target, state) => {
      target.beforeSend();
      power.set(target.device, state);
      record(target, 'set', state);
      return Promise.resolve({ result: 'accepted', detail: 'obeyed' });
    },
  };
  return {
    name: 'simulated',
    aliases: [],
    kind: 'power',
    keepsSession: true,
    actions: ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 1_000,
    deviceKey: ({ ip = '' }) => ip,
    describe: () => [
      { name: 'ip', required: true, secret: false, description: 'Name of the machine.' },
      { name: 'password', required: true, secret: true, description: 'Read from a Secret, as a real device needs it.' },
    ],
    check: ({ ip, password }, withSecrets) => [
      ...(ip === undefined ? [{ parameter: 'ip', message: 'is missing' }] : []),
      ...(withSecrets && password === undefined ? [{ parameter: 'password', message: 'is missing' }] : []),
    ],
    create: () => Promise.resolve(agent),
  };
}
