import { describe, expect, it } from 'vitest';

import { pdu } from '../../agents/pdu/definition.ts';
import { FAMILIES } from '../../agents/pdu/families.ts';
import { parseSettings } from '../../agents/pdu/parameters.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, shownOff, yamlOf } from './readme.ts';

const README = readmeOf('pdu');

describe('the README', () => {
  it('shows a configuration that fences', () => {
    const { off, parameters } = shownOff(yamlOf(README));
    expect(parseSettings(parameters)).toMatchObject({
      outletName: 'worker-1',
      snmp: { security: { name: 'fence', privacy: { protocol: 'AES', password: 'change-me-as-well' } } },
    });
    expect([off.device, off.plug]).toEqual(['192.0.2.30:161', '3']);
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(README)).toBe(parametersTable(pdu));
  });

  it('has every family with the values of its state', () => {
    for (const { name, state } of FAMILIES) expect(README).toMatch(new RegExp(`\\| \`${name}\` +\\|.*\\| ${state.on.join()}, ${state.off.join()}`));
  });
});
