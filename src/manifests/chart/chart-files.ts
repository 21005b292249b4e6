import type { KubeObject } from '../../ports/objects.ts';
import { MANIFEST_FILES } from '../installation.ts';
import { deployment } from '../deployment.ts';
import { HEARING_KDUMP } from '../kdump-access.ts';
import { NODE_DAEMON_DUTIES, NODE_DAEMON_SET, SERVING_NODE_DAEMONS } from '../node-daemonset.ts';
import { OVERLAYS, overlayObjects } from '../overlays.ts';
import { renderObjects } from '../render.ts';
import { withPlaceholders } from './placeholders.ts';
import { valuesSchemaText, valuesText } from './values-files.ts';

const CHART = 'charts/nodefence';
const HEADER = 'Written by `npm run generate` from src/manifests; edits are lost.';
const KUSTOMIZATION = 'kustomization.yaml';
/** Helm's own templates make these of the objects of `_objects.tpl`. */
const MADE_BY_TEMPLATES = new Set(['Deployment', 'DaemonSet']);
/** Before policy/v1 and policy/v1beta1 parted. */
const OLDEST_KUBERNETES = '>=1.21.0-0';

interface ChartFile {
  path: string;
  text: string;
}

interface Kustomization {
  resources: readonly string[];
}

/** When what is installed with `with.<folder>` is installed too, in the words of Helm. */
const ALSO_WHEN: Readonly<Record<string, string>> = {
  'preservation-observe': '.Values.preservation',
  'preservation-own': '(eq .Values.preservation "own")',
  'node-daemon-controller': '.Values.serveNodeDaemons',
  kdump: '.Values.hearKdump',
  'node-daemon': '.Values.nodeDaemons.enabled',
  'node-daemon-conditions': '(and .Values.nodeDaemons.enabled (has "conditions" .Values.nodeDaemons.duties))',
};

function resourcesOf(folder: string): readonly string[] {
  const file = MANIFEST_FILES.find(({ path }) => path === `${folder}/${KUSTOMIZATION}`);
  if (file === undefined) throw new Error(`there is no config/${folder}/${KUSTOMIZATION}`);
  return (file.objects[0] as Kustomization).resources;
}

/** The switches of all folders that have it: an object that two of them share is installed once. */
function conditionOf(object: KubeObject): string {
  const switches = OVERLAYS.filter((name) => overlayObjects([name]).includes(object));
  const also = switches.map((name) => ALSO_WHEN[name]).filter((each) => each !== undefined);
  return ['or', ...switches.map((name) => `(index .Values.with "${name}")`), ...also].join(' ');
}

/** Kinds stay when a release goes: with a kind, every object of it would go. The namespace is the release's. */
function forHelm(object: KubeObject): KubeObject[] {
  if (object.kind === 'Namespace' || MADE_BY_TEMPLATES.has(object.kind ?? '')) return [];
  if (object.kind !== 'CustomResourceDefinition') return [object];
  const annotations = { ...object.metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return [{ ...object, metadata: { ...object.metadata, annotations } }];
}

function template(name: string, parts: readonly { condition?: string; objects: readonly KubeObject[] }[]): ChartFile[] {
  const texts = parts.flatMap(({ condition, objects }) => {
    const rest = objects.flatMap(forHelm);
    if (rest.length === 0) return [];
    const text = `---\n${renderObjects(rest.map(withPlaceholders))}`;
    return [condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`];
  });
  if (texts.length === 0) return [];
  return [{ path: `${CHART}/templates/config/${name}.yaml`, text: `{{- /* ${HEADER} */}}\n${texts.join('')}` }];
}

/** What every installation has: the folders of config/observe. */
function baseTemplates(): ChartFile[] {
  return resourcesOf('observe').flatMap((resource) => {
    const folder = resource.slice('../'.length);
    const files = resourcesOf(folder).map((file) => MANIFEST_FILES.find(({ path }) => path === `${folder}/${file}`)?.objects ?? []);
    const objects = files.flat() as KubeObject[];
    return template(folder, [folder === 'crd' ? { objects, condition: '.Values.definitions' } : { objects }]);
  });
}

function overlayTemplates(): ChartFile[] {
  const written = new Set<KubeObject>();
  return OVERLAYS.flatMap((name) => {
    const objects = overlayObjects([name]).filter((object) => !written.has(object));
    for (const object of objects) written.add(object);
    const byCondition = Map.groupBy(objects, conditionOf);
    return template(
      name,
      [...byCondition].map(([condition, those]) => ({ condition, objects: those })),
    );
  });
}

function definition(name: string, object: object): string {
  return `{{- define "nodefence.${name}" -}}\n${renderObjects([withPlaceholders(object)])}{{- end }}\n`;
}

/** What the templates of Deployment and DaemonSet start from: the very objects and patches of config/. */
function objectsText(): string {
  const definitions = [
    definition('deployment', deployment()),
    definition('daemonset', NODE_DAEMON_SET),
    ...Object.entries(NODE_DAEMON_DUTIES).map(([name, patch]) => definition(`duty.${name}`, patch)),
    definition('serving-node-daemons', { operations: SERVING_NODE_DAEMONS }),
    definition('hearing-kdump', { operations: HEARING_KDUMP }),
  ];
  return `{{- /* ${HEADER} */}}\n${definitions.join('')}`;
}

function metadataText(version: string): string {
  const metadata = {
    apiVersion: 'v2',
    name: 'nodefence',
    description: 'Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: OLDEST_KUBERNETES,
    annotations: { 'artifacthub.io/license': 'Apache-2.0' },
  };
  return `# ${HEADER}\n${renderObjects([metadata])}`;
}

/** The part of the Helm chart that is written from code, so that it installs what config/ installs. */
export function chartFiles(version: string): ChartFile[] {
  return [
    { path: `${CHART}/Chart.yaml`, text: metadataText(version) },
    { path: `${CHART}/values.yaml`, text: `# ${HEADER}\n${valuesText()}` },
    { path: `${CHART}/values.schema.json`, text: valuesSchemaText() },
    { path: `${CHART}/templates/_objects.tpl`, text: objectsText() },
    ...baseTemplates(),
    ...overlayTemplates(),
  ];
}
