import { describe, expect, it } from 'vitest';

import { MemoryMachine } from '../../bmc/power-backend.ts';
import { PowerSwitch } from '../power-switch.ts';
import type { Message } from '../rmcp/message.ts';
import { SimChassis } from './sim-chassis.ts';

const control = (number: number): Message => ({
  to: 0x20,
  from: 0x81,
  netFn: 0,
  toLun: 0,
  fromLun: 0,
  sequence: 1,
  command: 2,
  data: Buffer.from([number]),
});

function chassis() {
  const log: string[] = [];
  const machine = new MemoryMachine('on');
  const watched = {
    state: () => machine.state(),
    on: () => {
      log.push('machine on');
      machine.on('set');
    },
    off: () => {
      log.push('machine off');
      machine.off('set');
    },
  };
  const power = new PowerSwitch({ after: () => () => undefined }, watched);
  const joined = new SimChassis(
    power,
    () => ({}),
    ({ session, action, want, answer }) => log.push(`${session}: ${action} ${want ?? ''} ${answer}`),
  );
  return { joined, log };
}

describe('what ipmi_sim was told', () => {
  it('stands in the trace with its session before the machine feels it, and only once', () => {
    const { joined, log } = chassis();
    const off = control(0);
    joined.onRequest('session 1', off);
    joined.told('power 0');
    joined.onResponse('session 1', off, { ...off, netFn: 1, data: Buffer.from([0]) });
    expect(log).toEqual(['session 1: set off 00 down', 'machine off']);
  });

  it('stands there as refused when its program was not run', () => {
    const { joined, log } = chassis();
    const off = control(0);
    joined.onRequest('session 1', off);
    joined.onResponse('session 1', off, { ...off, netFn: 1, data: Buffer.from([0xd4]) });
    expect(log).toEqual(['session 1: set off d4 down']);
  });

  it('is one cycle though the simulator does it in two halves', () => {
    const { joined, log } = chassis();
    const cycle = control(2);
    joined.onRequest('session 1', cycle);
    joined.told('power 0');
    joined.onResponse('session 1', cycle, { ...cycle, netFn: 1, data: Buffer.from([0]) });
    joined.told('power 1');
    expect(log).toEqual(['session 1: set off 00 cycle', 'session 1: set on 00 cycle', 'machine off', 'machine on']);
  });

  it('never goes unrecorded, even when nobody was heard asking for it', () => {
    const { joined, log } = chassis();
    joined.told('power 0');
    joined.told('power 1');
    expect(log).toEqual(['unheard: set off 00 power 0', 'machine off', 'unheard: set on 00 power 1', 'machine on']);
  });
});
