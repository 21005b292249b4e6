import type { ManifestFile } from './installation.ts';

/** To be patched as the whole that each of them is. */
function overlay(path: string, fields: object): ManifestFile {
  return { path: `${path}/kustomization.yaml`, objects: [{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...fields }] };
}

/** There is always an MCM: own mode is never taken up where its Lease is old, as while a cluster is hibernated. */
const BESIDE_MCM = '- op: add\n  path: /spec/template/spec/containers/0/args/-\n  value: --preservation=observe\n';

/** What a kind of cluster takes, of folders that stand beside: mode enforce, and the guards, whose kinds are as old (1.30) as those of the node daemons. */
export const CLUSTER_FILES: readonly ManifestFile[] = [
  // The guards last: they bind accounts that are there.
  overlay('bare-metal', {
    resources: ['../enforce', '../node-daemonset', '../guards'],
    components: ['../node-daemon-controller-part', '../kdump-part'],
  }),
  overlay('cloud', { resources: ['../enforce', '../network-policies', '../guards'] }),
  overlay('gardener', {
    resources: ['../enforce', '../preservation-observe', '../network-policies', '../guards'],
    patches: [{ target: { kind: 'Deployment', name: 'nodefence-controller' }, patch: BESIDE_MCM }],
  }),
];
