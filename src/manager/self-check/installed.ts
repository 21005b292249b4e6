import { needsOf } from '../../controllers/self-check/rights.ts';
import type { Granting } from '../../controllers/self-check/rights.ts';
import type { Installed, OwnKind } from '../../controllers/self-check/questions.ts';
import { ELSEWHERE_ACCESS, NAMESPACE, OWN_ACCESS } from '../../manifests/access.ts';
import type { Binding, Role } from '../../manifests/access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION } from '../../manifests/definitions.ts';
import type { CustomResourceDefinition } from '../../manifests/definitions.ts';
import { HEALTH_CHECK_ACCESS } from '../../manifests/health-check-access.ts';
import { HEALTH_CHECK_DEFINITION, PROPOSED_HEALTH_CHECK_DEFINITION } from '../../manifests/health-check-definitions.ts';
import { MACHINE_REMEDIATION_ACCESS } from '../../manifests/machine-remediation-access.ts';
import { METAL3_REMEDIATION_ACCESS } from '../../manifests/metal3-remediation-access.ts';
import { METAL3_REMEDIATION_DEFINITIONS } from '../../manifests/metal3-remediation-definitions.ts';
import { PRESERVATION_OBSERVE_ACCESS } from '../../manifests/preservation-access.ts';
import { PROBLEM_ACCESS } from '../../manifests/problem-access.ts';
import { REMEDIATION_ACCESS } from '../../manifests/remediation-access.ts';
import { PROPOSED_REMEDIATION_DEFINITIONS, REMEDIATION_DEFINITIONS } from '../../manifests/remediation-definitions.ts';
import { REMEDIES_ACCESS } from '../../manifests/remedies-access.ts';
import type { ControllerOptions } from '../composition.ts';

type Choice = Pick<ControllerOptions, 'namespace' | 'remediation' | 'healthChecks' | 'metal3Remediation'>;

/** What must be installed for the controllers that are switched on, from the manifests themselves. */
export function installedFor({ namespace, remediation, healthChecks = 'off', metal3Remediation = 'off' }: Choice): Installed[] {
  const optional = (folder: string, definitions: readonly CustomResourceDefinition[], access: readonly (Role | Binding)[]): Installed => ({
    kinds: definitions.map((definition) => kindOf(definition, false)),
    needs: needsOf(grantingTo(access, namespace)),
    isOptional: true,
    definitionRemedy: definitionRemedy(folder),
    rightRemedy: rightRemedy(rightFolder(folder), namespace),
  });
  return [
    {
      kinds: CUSTOM_RESOURCE_DEFINITIONS.map((definition) => kindOf(definition, CREATED.includes(definition))),
      needs: needsOf(grantingTo(OWN_ACCESS, namespace)),
      isOptional: false,
      definitionRemedy: definitionRemedy('crd'),
      rightRemedy: rightRemedy('rbac', namespace),
    },
    {
      kinds: [],
      needs: needsOf(grantingTo(ELSEWHERE_ACCESS, namespace)),
      isOptional: false,
      definitionRemedy: definitionRemedy('crd'),
      rightRemedy: elsewhereRemedy(namespace),
    },
    ...(remediation === true
      ? [
          optional('remediation', REMEDIATION_DEFINITIONS, REMEDIATION_ACCESS),
          optional('remediation-proposed-crd', PROPOSED_REMEDIATION_DEFINITIONS, REMEDIATION_ACCESS),
        ]
      : []),
    // Either of the two shapes has the same name: whichever version is served is held against its own.
    ...(healthChecks === 'off' ? [] : HEALTH_CHECKS.map(([folder, definition]) => optional(folder, [definition], HEALTH_CHECK_ACCESS))),
    ...(metal3Remediation === 'off' ? [] : [optional('metal3-remediation-crd', METAL3_REMEDIATION_DEFINITIONS, METAL3_REMEDIATION_ACCESS)]),
  ];
}

/** Those that the controllers make themselves. */
const CREATED: readonly CustomResourceDefinition[] = [NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION];
const HEALTH_CHECKS = [
  ['machine-health-check-crd', HEALTH_CHECK_DEFINITION],
  ['machine-health-check-proposed-crd', PROPOSED_HEALTH_CHECK_DEFINITION],
] as const;

function kindOf({ spec: { group, scope, names, versions } }: CustomResourceDefinition, isCreated: boolean): OwnKind {
  const [version] = versions;
  if (version === undefined) throw new Error(`${names.plural}.${group} has no version`);
  const resource = { group, version: version.name, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' };
  return { resource, schema: version.schema.openAPIV3Schema, isCreated };
}

/** The roles that are bound to the controller's account, in the namespace in which it is installed. */
function grantingTo(access: readonly (Role | Binding)[], namespace: string): Granting[] {
  const bound = new Set(access.flatMap((object) => ('roleRef' in object ? [`${object.roleRef.kind} ${object.roleRef.name}`] : [])));
  return access.flatMap((object): Granting[] => {
    if (!('rules' in object) || !bound.has(`${object.kind} ${object.metadata.name}`)) return [];
    const place = object.metadata.namespace === NAMESPACE ? namespace : object.metadata.namespace;
    return [{ rules: object.rules, ...(place !== undefined && { namespace: place }) }];
  });
}

/** Definitions that are created, never applied, are ours when they are asked about: they may be replaced. */
function definitionRemedy(folder: string): string {
  return folder.endsWith('-crd') ? `kubectl replace -k config/${folder}` : `kubectl apply -k config/${folder}`;
}

function rightFolder(folder: string): string {
  return folder.startsWith('machine-health-check') ? 'machine-health-check' : folder.replace(/(-proposed)?-crd$/, '');
}

/** The same whatever installed the rest: by itself, for OLM cannot. */
function elsewhereRemedy(namespace: string): string {
  if (namespace === NAMESPACE) return 'kubectl apply -k config/other-namespaces';
  return `nodefence manifests --namespace ${namespace} --only other-namespaces | kubectl apply -f -`;
}

/** By folder, what gives rights that only some clusters need. */
const OPTIONAL_ACCESS: readonly (readonly [folder: string, access: readonly object[]])[] = [
  ['remediation', REMEDIATION_ACCESS],
  ['machine-health-check', HEALTH_CHECK_ACCESS],
  ['machine-remediation', MACHINE_REMEDIATION_ACCESS],
  ['metal3-remediation', METAL3_REMEDIATION_ACCESS],
  ['preservation-observe', PRESERVATION_OBSERVE_ACCESS],
  ['remedies', [...REMEDIES_ACCESS, ...PROBLEM_ACCESS]],
];

/** What gives the right to watch this kind, `plural.group`; undefined: nothing that is shipped for some clusters only. */
export function watchedBy(kind: string, namespace: string): string | undefined {
  const folders = OPTIONAL_ACCESS.filter(([, access]) => access.some((object) => 'rules' in object && isWatched(kind, object as Role)));
  return folders.length === 0 ? undefined : folders.map(([folder]) => rightRemedy(folder, namespace)).join(', or ');
}

function isWatched(kind: string, { rules }: Pick<Role, 'rules'>): boolean {
  return rules.some(
    ({ apiGroups, resources, verbs }) =>
      verbs.includes('watch') && apiGroups.some((group) => resources.some((plural) => (group === '' ? plural : `${plural}.${group}`) === kind)),
  );
}

/** What gives a controller beside the one that fences its rights: those of both roles. `isFar`: it goes to other clusters too. */
export function rightsOf(folder: string, namespace: string, isFar = false): string {
  const here = `${rightRemedy('rbac', namespace)} and ${rightRemedy(folder, namespace)}`;
  return isFar ? `${here}; where another cluster refuses it, what its kubeconfig may do` : here;
}

function rightRemedy(folder: string, namespace: string): string {
  if (namespace === NAMESPACE) return `kubectl apply -k config/${folder}`;
  return `nodefence manifests --namespace ${namespace}${folder === 'rbac' ? '' : ` --with ${folder}`} | kubectl apply -f -`;
}
