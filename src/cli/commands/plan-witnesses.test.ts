import { expect, it } from 'vitest';
import { standardRegistry } from '../../../agents/registry.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { witnessesOf } from './plan-witnesses.ts';

function method(name: string, agent: string, parameters: Record<string, string>, action: PlanMethod['action'] = 'off'): PlanMethod {
  return { name, agent, kind: 'power', action, device: 'd', plug: '1', parameters, deviceMaxLatencyMs: 0 };
}

it('says of every method that switches off whether a witness is used, and which', () => {
  const methods = [
    method('bmc', 'redfish', {}),
    method('blind', 'redfish', { chassis_witness: 'no' }),
    method('outlet', 'redfish', { resource: 'outlet' }, 'reboot'),
    method('pdu', 'pdu', {}),
    method('pdu-blind', 'pdu', { 'current-witness': 'No' }),
    method('pdu-unmetered', 'pdu', { family: 'iboot-pdu' }),
    method('ipmi', 'ipmi', {}),
    method('ipmi-both', 'ipmi', { verify_with: 'other' }),
    method('on', 'redfish', {}, 'on'),
  ];
  const found = witnessesOf({ powerManagement: [{ level: 1, methods }] }, standardRegistry());
  expect(found.map(({ method: name, witness }) => `${name}: ${witness ?? 'none'}`)).toEqual([
    'bmc: the PowerState of its own Chassis, where it shows one (chassis_witness=yes)',
    'blind: none',
    'outlet: the current of the outlet, where it measures one',
    'pdu: the current of the outlet, where its family measures one (current_witness=yes)',
    'pdu-blind: none',
    'pdu-unmetered: none',
    'ipmi: none',
    'ipmi-both: the other transport (verify_with=other)',
  ]);
});
