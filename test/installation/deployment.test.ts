import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { standardRegistry } from '../../agents/registry.ts';
import { EGRESS_POLICIES, NETWORK_POLICIES } from '../../src/manifests/network-policies.ts';
import type { NetworkPolicy, Passage } from '../../src/manifests/network-policies.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';
import { shippedObjects } from '../shipped.ts';
import { KUBECTL, kubectlMinor } from './cluster.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const hasKubectl = kubectlMinor() >= 0;

interface Deployment extends KubeObject {
  spec: {
    replicas: number;
    strategy: object;
    selector: { matchLabels: object };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        tolerations: { key?: string; operator: string; effect: string; tolerationSeconds?: number }[];
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: object[] } };
        priorityClassName: string;
        containers: { args: string[]; ports: { name: string; containerPort: number }[] }[];
      };
    };
  };
}

function named(folder: string, kind: string, name: string): KubeObject {
  const found = shippedObjects(folder).find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name} in config/${folder}`);
  return found;
}

const DEPLOYMENT = named('observe', 'Deployment', 'nodefence-controller') as Deployment;
const POD = DEPLOYMENT.spec.template.spec;
const DAEMON_SET = named('node-daemonset', 'DaemonSet', 'nodefence-node') as Deployment;
const DAEMON = DAEMON_SET.spec.template.spec;

/** As the scheduler reads tolerations: may a pod be started on a node with this mark? */
function startsBeside(key: string, effect = 'NoSchedule'): boolean {
  return POD.tolerations.some((one) => (one.key === undefined || one.key === key) && one.effect === effect);
}

describe('the Deployment of the controllers', () => {
  it('never puts two replicas on one machine, and needs no third machine to be replaced', () => {
    expect(POD.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
      { labelSelector: { matchLabels: DEPLOYMENT.spec.template.metadata.labels }, topologyKey: 'kubernetes.io/hostname' },
    ]);
    expect(DEPLOYMENT.spec).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
  });

  it('is started where nodes are short of something, never where a kubelet may not work, and leaves such a node soon', () => {
    const scarce = ['memory-pressure', 'disk-pressure', 'pid-pressure'].map((name) => `node.kubernetes.io/${name}`);
    expect([...scarce, 'node-role.kubernetes.io/control-plane'].filter((key) => !startsBeside(key))).toEqual([]);
    expect(['not-ready', 'unreachable', 'unschedulable', 'out-of-service'].filter((name) => startsBeside(`node.kubernetes.io/${name}`))).toEqual([]);
    const left = POD.tolerations.filter(({ effect }) => effect === 'NoExecute');
    expect(left.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
      ['node.kubernetes.io/not-ready', 30],
      ['node.kubernetes.io/unreachable', 30],
    ]);
  });

  it.each([
    ['nodefence-controller', POD.priorityClassName, 2 * DEPLOYMENT.spec.replicas],
    ['nodefence-node', DAEMON.priorityClassName, 5_000],
  ])('brings a quota for the priority class of %s', (name, priorityClass, atLeast) => {
    const { spec } = named('observe', 'ResourceQuota', name) as KubeObject & { spec: { hard: { pods: string } } };
    const values = [priorityClass];
    expect(spec).toMatchObject({ scopeSelector: { matchExpressions: [{ operator: 'In', scopeName: 'PriorityClass', values }] } });
    expect(Number(spec.hard.pods.replace('k', '000'))).toBeGreaterThanOrEqual(atLeast);
  });
});

/** As a network plugin reads it: policies that select a pod add up; without one that has this direction, everything passes. */
function passes(
  policies: readonly NetworkPolicy[],
  direction: 'Ingress' | 'Egress',
  labels: object,
  protocol: string,
  port: number,
): Passage[] | 'all' {
  const selecting = policies.filter(({ spec }) => spec.policyTypes.includes(direction) && selects(spec.podSelector, labels));
  if (selecting.length === 0) return 'all';
  const passages = selecting.flatMap(({ spec }) => (direction === 'Ingress' ? spec.ingress : spec.egress) ?? []);
  return passages.filter(({ ports }) => ports.some((one) => one.protocol === protocol && one.port === port));
}

function selects(selector: { matchLabels?: Record<string, string> }, labels: object): boolean {
  return Object.entries(selector.matchLabels ?? {}).every(([key, value]) => (labels as Record<string, unknown>)[key] === value);
}

describe('the network policies', () => {
  const controller = DEPLOYMENT.spec.template.metadata.labels;
  const daemon = DAEMON_SET.spec.template.metadata.labels;
  const job = { 'nodefence.ha.k8s.io/job': 'any' };
  const comesIn = (labels: object, protocol: string, port: number): Passage[] | 'all' => passes(NETWORK_POLICIES, 'Ingress', labels, protocol, port);

  it('let daemons and controllers hear each other, metrics be read from namespaces that are marked, and nothing else in', () => {
    for (const labels of [controller, daemon]) expect(comesIn(labels, 'UDP', 7411)).toEqual([{ ports: [{ protocol: 'UDP', port: 7411 }] }]);
    expect(comesIn(controller, 'TCP', 7408)).toMatchObject([
      { from: [{ namespaceSelector: { matchLabels: { 'nodefence.ha.k8s.io/metrics': 'allowed' } } }] },
    ]);
    expect([comesIn(controller, 'TCP', 8080), comesIn(daemon, 'TCP', 7408), comesIn(job, 'TCP', 80)]).toEqual([[], [], []]);
  });

  it('limit nothing that goes out, so that no device is forgotten', () => {
    for (const labels of [controller, daemon, job]) expect(passes(NETWORK_POLICIES, 'Egress', labels, 'TCP', 12_345)).toBe('all');
  });

  it('that do limit it let out to the usual port of every agent, the API server and the name service', () => {
    const goesOut = (protocol: string, port: number): boolean => passes(EGRESS_POLICIES, 'Egress', controller, protocol, port).length > 0;
    const known = standardRegistry();
    const usual = known.names().flatMap((name) => {
      const ports =
        known
          .find(name)
          ?.describe()
          .find((parameter) => parameter.name === 'ipport')?.default ?? '';
      return [...ports.matchAll(/\d+/g)].map(([port]) => Number(port));
    });
    expect(usual.length).toBeGreaterThan(4);
    expect(usual.filter((port) => !goesOut('TCP', port) && !goesOut('UDP', port))).toEqual([]);
    for (const port of [443, 6443, 53]) expect(goesOut('TCP', port), String(port)).toBe(true);
    expect([goesOut('UDP', 53), goesOut('UDP', 7411), goesOut('TCP', 25), goesOut('UDP', 443)]).toEqual([true, true, false, false]);
  });
});

describe.runIf(hasKubectl)('overlays, as kubectl builds them (needs kubectl)', { timeout: 60_000 }, () => {
  const objectsOf = (folder: string): KubeObject[] => {
    const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', resolve(ROOT, folder)], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { ...process.env, ...SHORT_LIVED },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
  };
  const deploymentOf = (objects: readonly KubeObject[]): Deployment => objects.find(({ kind }) => kind === 'Deployment') as Deployment;
  const built = (folder: string): Deployment => deploymentOf(objectsOf(folder));

  it.each(['observe', 'enforce'])('config/%s-with-metrics serves them by TLS, with a certificate where there is one', (mode) => {
    const [container] = built(`config/${mode}-with-metrics`).spec.template.spec.containers;
    const more = ['--metrics-address', ':7408', '--metrics-certificate', '/etc/nodefence/metrics'];
    expect(container?.args).toEqual(['controller', '--mode', mode, ...more]);
    expect(container?.ports.map(({ name, containerPort }) => [name, containerPort])).toEqual([
      ['http', 8080],
      ['metrics', 7408],
    ]);
  });

  const HEARING = ['--http-address', ':7409', '--kdump-address', ':7410'];
  const OWN_GUARDS = ['authorship', 'controller-nodes', 'controller-jobs'].map((name) => `nodefence-${name}`);

  it.each([
    ['bare-metal', ['--node-daemons', ...HEARING], ['DaemonSet nodefence-node', 'Role nodefence-kdump'], ['http', 'node-daemons', 'kdump']],
    ['cloud', [], ['NetworkPolicy nodefence-controller'], ['http']],
    ['gardener', ['--preservation=observe'], ['ClusterRole nodefence-machines-observe', 'NetworkPolicy nodefence-controller'], ['http']],
  ])('config/%s enforces, under the guards, with what such a cluster takes', (folder, more, beside, ports) => {
    const objects = objectsOf(`config/${folder}`);
    const [container] = deploymentOf(objects).spec.template.spec.containers;
    expect(container?.args).toEqual(['controller', '--mode', 'enforce', ...more]);
    expect(container?.ports.map(({ name }) => name)).toEqual(ports);
    const names = objects.map(({ kind, metadata }) => `${kind ?? ''} ${metadata.name}`);
    const guards = OWN_GUARDS.map((name) => `ValidatingAdmissionPolicyBinding ${name}`);
    expect(names).toEqual(expect.arrayContaining([...beside, ...guards]));
  });

  it('the overlays of one’s own on the page of deployment are built as it says', () => {
    const folder = mkdtempSync(join(tmpdir(), 'overlay-'));
    try {
      const blocks = [...readFileSync(join(ROOT, 'docs', 'deployment.md'), 'utf8').matchAll(/^```yaml\n(apiVersion: kustomize[^`]*)```/gm)];
      const built = blocks.map(([, text = '']) => {
        writeFileSync(join(folder, 'kustomization.yaml'), text.replaceAll('../nodefence', relative(folder, ROOT)));
        return objectsOf(folder);
      });
      const [cloud, gardener, anywhere] = built.map((objects) => ({
        pod: deploymentOf(objects).spec.template,
        account: objects.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === 'nodefence-controller'),
      }));
      expect(anywhere?.pod.spec.tolerations).toContainEqual({ operator: 'Exists', effect: 'NoSchedule' });
      expect(cloud?.account?.metadata.annotations).toHaveProperty(['eks.amazonaws.com/role-arn']);
      expect(gardener?.pod.spec).toMatchObject({
        containers: [{ env: expect.arrayContaining([{ name: 'NODEFENCE_MACHINES_NAMESPACE', value: 'shoot--project--name' }]) as object[] }],
        volumes: expect.arrayContaining([{ name: 'machines', secret: { secretName: 'machines-kubeconfig' } }]) as object[],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
