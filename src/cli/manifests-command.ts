import { Command, InvalidArgumentError, Option } from 'commander';
import { NAMESPACE } from '../manifests/access.ts';
import { DEFAULT_CHOICE } from '../manifests/deployment.ts';
import { installation, moved } from '../manifests/installation.ts';
import type { InstallationChoice } from '../manifests/installation.ts';
import { DEFINITION_FOLDERS, OVERLAYS, overlayObjects, SEPARATE } from '../manifests/overlays.ts';
import { renderObjects } from '../manifests/render.ts';
import { workloadAccess } from '../manifests/workload-access.ts';
import type { WorkloadCluster } from '../manifests/workload-access.ts';
import { usageExits } from './usage-exits.ts';

/** Names with dots and slashes, a tag or a digest behind; nothing that YAML or a shell could take for more. */
const IMAGE = /^[a-z0-9][a-z0-9._/:-]*(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$/i;
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

interface Flags extends InstallationChoice {
  with: readonly string[];
  only?: readonly string[];
  workloadClusters: readonly WorkloadCluster[];
  definitions?: string;
  machineDefinitions?: true;
}

/** `nodefence manifests`: prints custom resource definitions, rights and the Deployment; reaches no cluster. */
export function manifestsCommand(): Command {
  return usageExits(new Command('manifests'))
    .description('print the manifests that install the controller: nodefence manifests --mode observe | kubectl apply -f -')
    .addOption(new Option('--mode <mode>', 'observe: change nothing; enforce: fence').choices(['observe', 'enforce']).default(DEFAULT_CHOICE.mode))
    .addOption(new Option('--image <reference>', 'image of the controller').argParser(image).default(DEFAULT_CHOICE.image))
    .addOption(new Option('--namespace <name>', 'namespace of the controller and its configuration').argParser(namespace).default(NAMESPACE))
    .addOption(
      new Option('--policy-version <version>', 'version of PodDisruptionBudget: v1beta1 for API servers before 1.21')
        .choices(['v1', 'v1beta1'])
        .default('v1'),
    )
    .addOption(
      new Option('--preservation <mode>', 'add the rights to preserve machines: observe beside an MCM, own in place of one').choices([
        'observe',
        'own',
      ]),
    )
    .addOption(
      new Option('--with <folders>', `add these folders of config/, separated by commas: ${OVERLAYS.join(', ')}`)
        .argParser(foldersOf(OVERLAYS))
        .default([], 'none'),
    )
    .addOption(
      new Option('--only <folders>', 'print only these folders of config/, as for --with, or other-namespaces: the rights that OLM cannot install')
        .argParser(foldersOf(SEPARATE))
        .conflicts(['with', 'definitions', 'machineDefinitions']),
    )
    .addOption(
      new Option(
        '--workload-clusters <clusters>',
        'add the right to read the kubeconfigs of these Clusters of Cluster API and no other Secret: NAMESPACE/NAME, separated by commas',
      )
        .argParser(workloadClusters)
        .default([], 'none'),
    )
    .addOption(
      new Option('--definitions <folder>', 'print only these definitions, for clusters that lack them: | kubectl create -f -, never apply').choices(
        DEFINITION_FOLDERS,
      ),
    )
    .option('--machine-definitions', 'the same as --definitions machine-crd')
    .action(
      ({
        machineDefinitions,
        definitions = machineDefinitions && 'machine-crd',
        with: beside,
        only,
        workloadClusters: clusters,
        ...choice
      }: Flags) => {
        const separate = only ?? (definitions === undefined ? undefined : [definitions]);
        const objects =
          separate === undefined
            ? [...installation(choice, overlayObjects(beside)), ...workloadAccess(clusters).map((object) => accountIn(object, choice.namespace))]
            : overlayObjects(separate).map((object) => moved(object, choice.namespace));
        process.stdout.write(renderObjects(objects));
      },
    );
}

function image(text: string): string {
  if (!IMAGE.test(text)) throw new InvalidArgumentError('must be a reference such as registry.example.com/nodefence:0.1.0.');
  return text;
}

function namespace(text: string): string {
  if (!LABEL.test(text)) throw new InvalidArgumentError('must be small letters, digits and dashes, at most 63.');
  return text;
}

function workloadClusters(text: string): WorkloadCluster[] {
  return text.split(',').map((part) => {
    const [, namespace, name] = /^\s*([^/\s]+)\/([^/\s]+)\s*$/.exec(part) ?? [];
    if (namespace === undefined || name === undefined || !LABEL.test(namespace) || !NAME.test(name)) {
      throw new InvalidArgumentError(`${part.trim()} is not NAMESPACE/NAME of a Cluster, in small letters, digits, dashes and dots.`);
    }
    return { namespace, name };
  });
}

/** Its own namespace is that of the clusters; the account is where the controller is. */
function accountIn<T extends object>(object: T, namespace: string): T {
  return 'subjects' in object ? { ...object, subjects: (object.subjects as object[]).map((subject) => ({ ...subject, namespace })) } : object;
}

function foldersOf(known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const names = text.split(',').map((name) => name.trim());
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is none of ${known.join(', ')}.`);
    return names;
  };
}
