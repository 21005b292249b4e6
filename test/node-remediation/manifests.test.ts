import { describe, expect, it } from 'vitest';
import { readSpec } from '../../src/controllers/node-remediation/spec.ts';
import { REMEDIATION_ACCESS } from '../../src/manifests/remediation-access.ts';
import { PROPOSED_REMEDIATION_DEFINITIONS, REMEDIATION_DEFINITIONS } from '../../src/manifests/remediation-definitions.ts';
import { API } from './world.ts';

const [request, template] = REMEDIATION_DEFINITIONS;

describe('what config/remediation installs', () => {
  it.each([...REMEDIATION_DEFINITIONS, ...PROPOSED_REMEDIATION_DEFINITIONS])(
    '$metadata.name says which contracts of Cluster API it serves',
    (definition) => {
      const [version] = definition.spec.versions;
      expect(definition.metadata.labels).toMatchObject({
        'cluster.x-k8s.io/v1beta1': version?.name,
        'cluster.x-k8s.io/v1beta2': version?.name,
        'clusterctl.cluster.x-k8s.io': '',
      });
    },
  );

  it('has templates moved along by clusterctl, for nothing owns them', () => {
    expect(template?.metadata.labels).toHaveProperty(['clusterctl.cluster.x-k8s.io/move'], '');
    expect(request?.metadata.labels).not.toHaveProperty(['clusterctl.cluster.x-k8s.io/move']);
  });

  it('names the templates as health checks expect it: the kind of the request and Template', () => {
    expect(template?.spec.names.kind).toBe(`${request?.spec.names.kind ?? ''}Template`);
    expect(request?.metadata.annotations).toHaveProperty(['api-approved.kubernetes.io']);
  });

  it('says of a request all that can be asked for, and no more, and of a template the same', () => {
    const schemaOf = (definition: typeof request) => definition?.spec.versions[0]?.schema.openAPIV3Schema.properties['spec'];
    const own = schemaOf(request) as { properties: object };
    const fields = Object.keys(own.properties);
    expect(fields).toHaveLength(10);
    for (const field of fields) expect(readSpec(API, { [field]: [] }).problems, field).toHaveLength(1);
    expect(schemaOf(template)).toMatchObject({ properties: { template: { properties: { spec: own } } } });
  });

  it.each([
    ['cluster.x-k8s.io/aggregate-to-manager', ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']],
    ['rbac.ext-remediation/aggregate-to-ext-remediation', ['get', 'list', 'watch']],
  ])('has the role that is aggregated by %s: requests are made, templates read', (label, onTemplates) => {
    const role = REMEDIATION_ACCESS.find(({ metadata }) => metadata.labels?.[label] === 'true');
    if (role === undefined || !('rules' in role)) throw new Error('there is none');
    const verbsOn = (plural: string | undefined): string[] =>
      role.rules.filter(({ apiGroups, resources }) => apiGroups[0] === 'ha.k8s.io' && resources.includes(plural ?? '')).flatMap(({ verbs }) => verbs);
    expect(verbsOn(request?.spec.names.plural).sort()).toEqual(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);
    expect(verbsOn(template?.spec.names.plural).sort()).toEqual(onTemplates);
  });
});
