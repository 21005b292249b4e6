import { describe, expect, it } from 'vitest';
import { ipmi } from '../../agents/ipmi/definition.ts';
import { pdu } from '../../agents/pdu/definition.ts';
import { redfish } from '../../agents/redfish/definition.ts';
import { optionsOf } from '../cli/agent/fence-options.ts';
import { parameterNames } from './parameter-names.ts';

describe('port=', () => {
  it('is the TCP or UDP port of a BMC, which has one machine and no plug, and the plug of a device that has some', () => {
    expect([redfish, ipmi].map((agent) => parameterNames(agent)('port'))).toEqual(['ipport', 'ipport']);
    expect(parameterNames(pdu)('port')).toBe('plug');
    expect(redfish.deviceKey({ ip: '192.0.2.7', port: '8443' })).toBe('192.0.2.7:8443');
    expect(redfish.check({ ip: '192.0.2.7', port: 'eth0' }, false).map(({ parameter, message }) => `${parameter} ${message}`)).toEqual([
      expect.stringContaining('must be a port number'),
    ]);
  });

  it("stays a fencer's name for the node on the command line", () => {
    for (const agent of [redfish, ipmi]) expect(optionsOf(agent).flatMap(({ name, aliases }) => [name, ...aliases])).not.toContain('port');
  });
});
