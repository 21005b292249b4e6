import { describe, expect, it } from 'vitest';

import { NAMED_FAULTS } from '../bmc/faults.ts';
import { supportedFaults } from './supported-faults.ts';

describe('the faults of a BMC', () => {
  it('are taken by the protocol that can show them and refused by the others', () => {
    expect(supportedFaults('redfish', { garbage: true })).toEqual({ garbage: true });
    expect(() => supportedFaults('redfish', { drops: 0.5 })).toThrow('protocol redfish cannot show the faults drops');
    expect(supportedFaults('ipmi', { wrongGuid: true, isMute: true })).toEqual({ wrongGuid: true, isMute: true });
    expect(() => supportedFaults('ipmi-sim', { wrongGuid: true, isMute: true })).toThrow('cannot show the faults wrongGuid, isMute');
    expect(() => supportedFaults('ipmi', { garbage: true })).toThrow('cannot show the faults garbage');
  });

  it('of the drill are known to every protocol', () => {
    for (const protocol of ['redfish', 'ipmi', 'ipmi-sim'] as const) {
      for (const name of ['honest', 'slow', 'lies', 'lies-off', 'not-answering', 'ac-restore'] as const) {
        expect(supportedFaults(protocol, NAMED_FAULTS[name])).toMatchObject(protocol === 'redfish' ? NAMED_FAULTS[name] : {});
      }
    }
  });

  it('need one state for chassis and system in IPMI, which knows one', () => {
    expect(supportedFaults('ipmi', { shows: 'Off', chassisShows: 'Off' })).toEqual({ shows: 'Off' });
    expect(() => supportedFaults('ipmi', { shows: 'Off', chassisShows: 'On' })).toThrow('cannot show the faults chassisShows');
    expect(() => supportedFaults('ipmi', { shows: 'PoweringOff' })).toThrow('PoweringOff cannot be said in IPMI');
  });
});
