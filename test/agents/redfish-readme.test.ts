import { describe, expect, it } from 'vitest';

import { redfish } from '../../agents/redfish/definition.ts';
import { parseSettings } from '../../agents/redfish/parameters.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, shownOff, yamlOf } from './readme.ts';

const README = readmeOf('redfish');

describe('the README', () => {
  it('shows a configuration that fences', () => {
    const { off, parameters } = shownOff(yamlOf(README));
    expect(parseSettings(parameters)).toMatchObject({
      host: '192.0.2.10',
      password: 'change-me',
      fingerprint: expect.stringMatching(/^3b1f/) as string,
    });
    expect(off.device).toBe('192.0.2.10:443');
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(README)).toBe(parametersTable(redfish));
  });
});
