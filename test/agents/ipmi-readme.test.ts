import { describe, expect, it } from 'vitest';

import { ipmi } from '../../agents/ipmi/definition.ts';
import { parseSettings } from '../../agents/ipmi/parameters.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, shownOff, yamlOf } from './readme.ts';

const README = readmeOf('ipmi');

describe('the README of ipmi', () => {
  it('shows a configuration that fences', () => {
    const { off, parameters } = shownOff(yamlOf(README));
    expect(parseSettings(parameters)).toMatchObject({
      host: '192.0.2.10',
      username: 'fence',
      password: 'change-me',
      cipher: '17',
      privilege: 'operator',
    });
    expect(off.device).toBe('192.0.2.10:623');
  });

  it('names every other name of the agent', () => {
    for (const alias of ipmi.aliases) expect(README).toContain(alias.replace('fence-', 'fence_').replace(/^(?!fence)/, 'fence_'));
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(README)).toBe(parametersTable(ipmi));
  });
});
