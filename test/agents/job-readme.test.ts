import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { jobOf, templateOf } from '../../agents/job/job-spec.ts';
import { standardRegistry } from '../../agents/registry.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, shownOff, yamlOf } from './readme.ts';

const readme = readmeOf('job');

describe('the page of job', () => {
  it('shows a configuration that fences by a Job', () => {
    const { off } = shownOff(yamlOf(readme));
    expect(off).toMatchObject({ agent: 'job', device: '192.0.2.30', plug: '3', secret: 'pdu-credentials' });
  });

  it('shows a pod template that is one, under the place that its method names', () => {
    const { off } = shownOff(yamlOf(readme));
    const [name, key = ''] = (off.parameters['pod_template'] ?? '').split('/');
    const documents = parseAllDocuments(yamlOf(readme)).map(
      (document) => document.toJS() as { metadata: { name: string }; data?: Record<string, string> },
    );
    const text = documents.find(({ metadata }) => metadata.name === name)?.data?.[key] ?? '';
    const order = {
      namespace: 'n',
      node: 'worker-1',
      action: 'off' as const,
      device: off.device,
      plug: off.plug,
      intent: 'i',
      serial: '',
      arguments: [],
    };
    const made = jobOf({ ...order, secret: off.secret, deadlineMs: 6_500 }, templateOf(text));
    expect(made.spec.template.spec.volumes?.map((volume) => volume.name)).toEqual(['nodefence-call', 'nodefence-secret']);
    const written = JSON.stringify(made.spec.template.spec.containers);
    const mounts = (made.spec.template.spec.containers[0]?.volumeMounts ?? []) as { mountPath: string }[];
    expect(mounts).toHaveLength(2);
    for (const { mountPath } of mounts) expect(readme, 'the program reads where it is mounted').toContain(`${mountPath}/`);
    expect(written).not.toContain('change-me');
  });

  it.each(['job', 'job-run'])('has the table of parameters that %s describes', (name) => {
    const definition = standardRegistry().find(name);
    expect(tableOf(readme)).toBe(definition === undefined ? '' : parametersTable(definition));
  });

  it('says what to do about each failure', () => {
    expect(readme).toMatch(/^## When it fails\n\n\|.*\| do +\|$/mu);
  });
});
