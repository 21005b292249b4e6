import type { KubeObject } from '../../ports/objects.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../definitions.ts';
import { DEFAULT_CHOICE, disruptionBudget } from '../deployment.ts';
import { NAMESPACE } from '../access.ts';
import { OPERATOR_ACCESS } from '../operator-access.ts';
import { renderManifest } from '../render.ts';
import { serviceVersion } from './service-version.ts';

const FOLDER = 'olm';
const HEADER = '# Written by `npm run generate` from src/manifests; edits are lost.\n';
/** Until 1.0.0. */
const CHANNEL = 'alpha';
const BUNDLE = 'operators.operatorframework.io.bundle';

/** What OLM and the registry of a catalogue read first; the image carries them as labels. */
const ANNOTATIONS: Readonly<Record<string, string>> = {
  [`${BUNDLE}.mediatype.v1`]: 'registry+v1',
  [`${BUNDLE}.manifests.v1`]: 'manifests/',
  [`${BUNDLE}.metadata.v1`]: 'metadata/',
  [`${BUNDLE}.package.v1`]: 'nodefence',
  [`${BUNDLE}.channels.v1`]: CHANNEL,
  [`${BUNDLE}.channel.default.v1`]: CHANNEL,
};

/** OLM puts them into the namespace of the Subscription. */
function withoutNamespace({ metadata: { namespace: _namespace, ...metadata }, ...rest }: KubeObject): KubeObject {
  return { ...rest, metadata };
}

function dockerfile(): string {
  const labels = Object.entries(ANNOTATIONS).map(([name, value]) => `LABEL ${name}=${value}\n`);
  return `${HEADER}FROM scratch\n${labels.join('')}COPY manifests /manifests/\nCOPY metadata /metadata/\n`;
}

/** A bundle of the Operator Lifecycle Manager that installs what config/observe installs, and what OLM takes of it. */
export function bundleFiles(version: string, image = DEFAULT_CHOICE.image): { path: string; text: string }[] {
  const people = OPERATOR_ACCESS.filter(({ metadata: { namespace = NAMESPACE } }) => namespace === NAMESPACE);
  const beside = [...people, disruptionBudget('policy/v1')].map(withoutNamespace);
  const manifests = [
    { path: 'nodefence.clusterserviceversion.yaml', object: serviceVersion(version, image) },
    ...CUSTOM_RESOURCE_DEFINITIONS.map((object) => ({ path: `${object.metadata.name}.crd.yaml`, object })),
    ...beside.map((object) => ({ path: `${object.metadata.name}.${(object.kind ?? '').toLowerCase()}.yaml`, object })),
  ];
  return [
    ...manifests.map(({ path, object }) => ({ path: `${FOLDER}/manifests/${path}`, text: renderManifest({ path, objects: [object] }) })),
    { path: `${FOLDER}/metadata/annotations.yaml`, text: renderManifest({ path: '', objects: [{ annotations: ANNOTATIONS }] }) },
    { path: `${FOLDER}/bundle.Dockerfile`, text: dockerfile() },
  ];
}
