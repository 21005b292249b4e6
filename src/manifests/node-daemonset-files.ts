import { Document } from 'yaml';
import type { ManifestFile } from './installation.ts';
import { ANYWHERE } from './deployment.ts';
import { HEARING_KDUMP } from './kdump-access.ts';
import { METRICS_FILES, SERVING_METRICS } from './metrics-access.ts';
import { NODE_DAEMON_DUTIES, NODE_DAEMON_SET, SERVING_NODE_DAEMONS } from './node-daemonset.ts';

const PARTS = 'node-daemonset-parts';
type Duty = keyof typeof NODE_DAEMON_DUTIES;

function text(object: object): string {
  return new Document(object, { aliasDuplicateObjects: false }).toString({ lineWidth: 150 });
}

function kustomization(path: string, fields: object): ManifestFile {
  return { path: `${path}/kustomization.yaml`, objects: [{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...fields }] };
}

function component(path: string, fields: object): ManifestFile {
  return { path: `${path}/kustomization.yaml`, objects: [{ apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', ...fields }] };
}

/** Objects that a duty needs beside its patch, each a folder of their own. */
const NEEDED: Partial<Record<Duty, readonly string[]>> = { conditions: ['../../node-daemon-conditions'] };

function duty(name: Duty): ManifestFile {
  const resources = NEEDED[name];
  return component(`${PARTS}/${name}`, {
    ...(resources === undefined ? {} : { resources }),
    patches: [{ patch: text(NODE_DAEMON_DUTIES[name]) }],
  });
}

function withDuties(name: string, duties: readonly Duty[]): ManifestFile {
  return kustomization(`node-daemonset-${name}`, { resources: ['../node-daemonset'], components: duties.map((one) => `../${PARTS}/${one}`) });
}

/** For `kubectl apply -k` alone: they are patched together, and no folder of objects. */
export const PATCHED_FILES: readonly ManifestFile[] = [
  { path: 'node-daemonset/daemonset.yaml', objects: [NODE_DAEMON_SET] },
  kustomization('node-daemonset', { resources: ['../node-daemon', 'daemonset.yaml'] }),
  ...(Object.keys(NODE_DAEMON_DUTIES) as Duty[]).map(duty),
  withDuties('watchdog', ['watchdog']),
  withDuties('self-fence', ['watchdog', 'self-fence']),
  component('node-daemon-controller-part', {
    resources: ['../node-daemon-controller'],
    patches: [{ target: { kind: 'Deployment', name: 'nodefence-controller' }, patch: text(SERVING_NODE_DAEMONS) }],
  }),
  ...['observe', 'enforce'].map((mode) =>
    kustomization(`${mode}-with-node-daemons`, { resources: [`../${mode}`], components: ['../node-daemon-controller-part'] }),
  ),
  component('kdump-part', {
    resources: ['../kdump'],
    patches: [{ target: { kind: 'Deployment', name: 'nodefence-controller' }, patch: text(HEARING_KDUMP) }],
  }),
  ...['observe', 'enforce'].map((mode) => kustomization(`${mode}-with-kdump`, { resources: [`../${mode}`], components: ['../kdump-part'] })),
  component('metrics-part', {
    resources: ['../metrics'],
    patches: [{ patch: text(METRICS_FILES) }, { target: { kind: 'Deployment', name: 'nodefence-controller' }, patch: text(SERVING_METRICS) }],
  }),
  ...['observe', 'enforce'].map((mode) => kustomization(`${mode}-with-metrics`, { resources: [`../${mode}`], components: ['../metrics-part'] })),
  component('controller-anywhere', { patches: [{ target: { kind: 'Deployment', name: 'nodefence-controller' }, patch: text(ANYWHERE) }] }),
];
