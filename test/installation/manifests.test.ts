import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { MANIFEST_FILES, OPTIONAL_FILES } from '../../src/manifests/installation.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testClock, testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
const OBSERVE = ['crd/', 'rbac/', 'controller/', 'disruption-budget/'];

function manifests(...words: string[]): { status: number | null; objects: KubeObject[]; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'manifests', ...words], { encoding: 'utf8', timeout: 60_000 });
  return { status, stdout, stderr, objects: parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject) };
}

function called(objects: readonly KubeObject[]): string[] {
  return objects.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.namespace ?? '', metadata.name].join(' ')).sort();
}

describe('nodefence manifests', { timeout: 90_000 }, () => {
  it('prints what kubectl apply -k config/observe installs', () => {
    const files = MANIFEST_FILES.filter(({ path }) => OBSERVE.some((folder) => path.startsWith(folder)) && !path.endsWith('kustomization.yaml'));
    const expected = files.flatMap(({ objects }) => objects as KubeObject[]);
    const { status, objects, stderr } = manifests();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(called(objects)).toEqual(called(expected));
    for (const object of objects) expect(expected).toContainEqual(object);
  });

  it('enforces, from another image, in another namespace, for an older server, when told so', () => {
    const choice = [
      '--mode',
      'enforce',
      '--image',
      'registry.example.com:5000/ha/nodefence:0.1.0-full',
      '--namespace',
      'fencing',
      '--policy-version',
      'v1beta1',
    ];
    const { stdout, objects } = manifests(...choice);
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    expect(deployment).toMatchObject({
      metadata: { namespace: 'fencing' },
      spec: {
        template: {
          spec: { containers: [{ image: 'registry.example.com:5000/ha/nodefence:0.1.0-full', args: ['controller', '--mode', 'enforce'] }] },
        },
      },
    });
    expect(called(objects)).toContain('v1 Namespace  fencing');
    expect(called(objects)).toContain('policy/v1beta1 PodDisruptionBudget fencing nodefence-controller');
    expect(called(objects)).toContain('rbac.authorization.k8s.io/v1 Role fencing nodefence-controller');
    expect(stdout).not.toContain('nodefence-system\n');
  });

  it('adds what preservation takes, and tells the controller so', () => {
    const plain = called(manifests().objects);
    const observe = called(manifests('--preservation', 'observe').objects);
    const own = manifests('--preservation', 'own');
    const added = (more: readonly string[], than: readonly string[]): string[] => more.filter((name) => !than.includes(name));
    expect(added(observe, plain)).toContain('rbac.authorization.k8s.io/v1 ClusterRoleBinding  nodefence-machines-observe');
    expect(added(called(own.objects), observe)).toEqual([
      'rbac.authorization.k8s.io/v1 ClusterRole  nodefence-machines-own',
      'rbac.authorization.k8s.io/v1 ClusterRole  nodefence-preservation-own',
      'rbac.authorization.k8s.io/v1 ClusterRoleBinding  nodefence-machines-own',
      'rbac.authorization.k8s.io/v1 ClusterRoleBinding  nodefence-preservation-own',
    ]);
    const args = ['controller', '--mode', 'observe', '--preservation', 'own'];
    expect(own.objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({ spec: { template: { spec: { containers: [{ args }] } } } });
  });

  it('prints the definitions of Machines alone and only when asked, for they are to be created, never applied', () => {
    const definitions = called(manifests('--machine-definitions').objects);
    expect(definitions.map((name) => name.split('  ')[1])).toEqual([
      'machinedeployments.machine.sapcloud.io',
      'machines.machine.sapcloud.io',
      'machinesets.machine.sapcloud.io',
    ]);
    expect(called(manifests('--preservation', 'own').objects).filter((name) => name.includes('sapcloud'))).toEqual([]);
  });

  it('prints folders of config/ beside it, each object once, in the namespace that was chosen', () => {
    const folders = ['remediation/', 'machine-health-check/', 'workload-clusters/', 'preservation-observe/', 'preservation-own/'];
    const { objects, stderr } = manifests('--namespace', 'fencing', '--with', 'remediation, machine-health-check,workload-clusters,preservation-own');
    expect(stderr).toBe('');
    const beside = OPTIONAL_FILES.filter(({ path }) => folders.some((folder) => path.startsWith(folder)) && !path.endsWith('kustomization.yaml'));
    const names = called(objects);
    expect(new Set(names).size).toBe(names.length);
    for (const name of called(beside.flatMap((file) => file.objects as KubeObject[]))) expect(names).toContain(name);
    const binding = objects.find(({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name === 'nodefence-remediation');
    expect(binding).toMatchObject({ subjects: [{ namespace: 'fencing' }] });
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.lastIndexOf('CustomResourceDefinition')).toBeLessThan(kinds.indexOf('Deployment'));
  });

  it('lets the kubeconfigs of the clusters that are named be read, and no other Secret', async () => {
    const { objects, stderr } = manifests('--namespace', 'fencing', '--workload-clusters', 'shoots/b, shoots/a,other/c.d');
    expect(stderr).toBe('');
    const account = 'system:serviceaccount:fencing:nodefence-controller';
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: account, groups: [] },
    ];
    const server = new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac' });
    const [admin, controller] = [inProcessTransport(server, 'admin'), inProcessTransport(server, account)];
    const call = async (transport: ApiTransport, method: 'GET' | 'POST', path: string, body?: object): Promise<number> =>
      (await transport.request({ method, path, deadlineMs: 5_000, ...(body !== undefined && { body }) })).status;
    for (const name of ['shoots', 'other']) expect(await call(admin, 'POST', '/api/v1/namespaces', { metadata: { name } })).toBe(201);
    for (const object of objects.filter(({ metadata }) => metadata.name === 'nodefence-workload-clusters')) {
      const plural = object.kind === 'Role' ? 'roles' : 'rolebindings';
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${object.metadata.namespace ?? ''}/${plural}`;
      expect(await call(admin, 'POST', path, object)).toBe(201);
    }
    const secrets = ['shoots/a-kubeconfig', 'shoots/b-kubeconfig', 'other/c.d-kubeconfig', 'shoots/login', 'other/a-kubeconfig'];
    const answers = secrets.map((secret) => call(controller, 'GET', `/api/v1/namespaces/${secret.replace('/', '/secrets/')}`));
    expect(await Promise.all(answers)).toEqual([404, 404, 404, 403, 403]);
    expect(await call(controller, 'GET', '/api/v1/secrets')).toBe(403);
  });

  it('prints the levels of flow control for the account of the namespace that was chosen', () => {
    const { objects } = manifests('--namespace', 'fencing', '--with', 'flow-control');
    const schemas = objects.filter(({ kind }) => kind === 'FlowSchema');
    expect(called(schemas)).toEqual(['nodefence', 'nodefence-leader'].map((name) => `flowcontrol.apiserver.k8s.io/v1 FlowSchema  ${name}`));
    const subject = { kind: 'ServiceAccount', serviceAccount: { name: 'nodefence-controller', namespace: 'fencing' } };
    for (const schema of schemas) expect(schema).toMatchObject({ spec: { rules: [{ subjects: [subject] }] } });
  });

  it('prints the definitions of any folder alone when asked', () => {
    const definitions = called(manifests('--definitions', 'machine-health-check-crd').objects);
    expect(definitions.map((name) => name.split('  ')[1])).toEqual(['machinehealthchecks.cluster.x-k8s.io']);
  });

  it.each([
    ['--with', 'everything'],
    ['--workload-clusters', 'only-a-name'],
    ['--workload-clusters', 'a/b/c'],
    ['--with', 'machine-crd'],
    ['--definitions', 'rbac'],
    ['--image', 'two words'],
    ['--namespace', 'Upper_Case'],
    ['--mode', 'perhaps'],
    ['--policy-version', 'v2'],
  ])('refuses %s %s as wrong usage, and prints no manifest', (option, value) => {
    const { status, stdout, stderr } = manifests(option, value);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(option);
  });
});
