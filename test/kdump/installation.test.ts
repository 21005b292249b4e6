import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';
import { KUBECTL, kubectlMinor } from '../installation/cluster.ts';

const CONFIG = join(import.meta.dirname, '..', '..', 'config');
const OLDEST_KUBECTL = 30;

interface Rendered {
  kind: string;
  metadata: { name: string };
  rules?: object[];
  spec: {
    template: {
      spec: {
        hostNetwork?: boolean;
        dnsPolicy?: string;
        hostPID?: boolean;
        containers: [{ args: string[]; ports: object[]; securityContext: object }];
      };
    };
  };
}

function rendered(folder: string): Rendered[] {
  const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', join(CONFIG, folder)], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...SHORT_LIVED },
  });
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
}

describe.skipIf(kubectlMinor() < OLDEST_KUBECTL)('a controller that hears kdump messages, as kubectl renders it', { timeout: 60_000 }, () => {
  it.each(['observe', 'enforce'])('is on the network of its node, and has one right more: %s', (mode) => {
    const [plain, hearing] = [rendered(mode), rendered(`${mode}-with-kdump`)];
    const podIn = (objects: Rendered[]) => objects.find(({ kind }) => kind === 'Deployment')?.spec.template.spec;
    const container = podIn(hearing)?.containers[0];
    expect(podIn(plain)?.hostNetwork).toBeUndefined();
    expect(podIn(hearing)).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
    expect(container?.args).toEqual(['controller', '--mode', mode, '--http-address', ':7409', '--kdump-address', ':7410']);
    expect(container?.ports).toEqual([
      { name: 'http', containerPort: 7_409 },
      { name: 'kdump', containerPort: 7_410, protocol: 'UDP' },
    ]);
    expect(container?.securityContext).toEqual(podIn(plain)?.containers[0].securityContext);
    const known = new Set(plain.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    const more = hearing.filter(({ kind, metadata }) => !known.has(`${kind} ${metadata.name}`));
    expect(more.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(['Role nodefence-kdump', 'RoleBinding nodefence-kdump']);
    expect(more.find(({ kind }) => kind === 'Role')?.rules).toEqual([
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['patch'], resourceNames: ['nodefence-kdump'] },
    ]);
  });
});
