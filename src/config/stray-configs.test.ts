import { describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from './configuration.ts';
import { strayProblems } from './stray-configs.ts';

const METHOD = 'agent_name=job\naction=off';
const POD = { name: 'fence-jobs', data: { pdu: 'spec: {}' } };

function told(data: Record<string, string>, name = 'fence-config-worker-1'): string[] {
  return strayProblems(configurationOf([POD, { name, data }], standardRegistry())).map(({ message }) => message);
}

describe('a ConfigMap of pod templates', () => {
  it.each([
    ['a method', { 'fence-method-off': `${METHOD}\npod_template=fence-jobs/pdu` }, undefined],
    ['a method in another spelling', { 'fence-method-off': `${METHOD}\npodTemplate=fence-jobs/pdu` }, undefined],
    ['a template', { 'template.properties': 'agent_name=job\npod_template=fence-jobs/pdu' }, 'fence-method-template-pdu'],
    ['the configuration of all nodes', { 'config.properties': 'job.pod_template=fence-jobs/pdu' }, 'fence-cluster-config'],
  ] as const)('that %s names is read', (_what, data, name) => {
    expect(told(data, name)).toEqual([]);
  });

  it('that nobody names is told', () => {
    expect(told({ 'fence-method-off': `${METHOD}\npod_template=fence-job/pdu` })).toEqual([
      expect.stringContaining('nobody reads a ConfigMap of this name') as string,
    ]);
  });
});
