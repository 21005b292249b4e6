import { describe, expect, it } from 'vitest';

import { standardRegistry } from '../../../agents/registry.ts';
import type { AgentDefinition } from '../../ports/agents.ts';
import { requestOf } from './fence-request.ts';

function pdu(): AgentDefinition {
  const found = standardRegistry().find('pdu');
  if (found === undefined) throw new Error('there is no agent pdu');
  return found;
}

const request = (values: Readonly<Record<string, string>>) => requestOf(pdu(), new Map(Object.entries({ action: 'off', ...values })));

describe('the plugs of a call', () => {
  it.each([
    [{ plug: '12' }, ['12']],
    [{ plug: '1, 2,1' }, ['1', '2']],
    [{ plug: '1,2;3', plug_separator: ';' }, ['1,2', '3']],
    [{ plug: '' }, ['']],
  ])('%o', (values, plugs) => {
    expect(request(values)).toMatchObject({ plugs });
  });

  it('are never made of the digits of one, however the separator is written', () => {
    expect(request({ plug: '12', plug_separator: '' })).toEqual({ failure: 'Failed: The value you have entered for --plug-separator is empty' });
  });
});
