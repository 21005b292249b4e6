import { needsOf } from '../../controllers/self-check/rights.ts';
import type { Granting } from '../../controllers/self-check/rights.ts';
import type { Installed, OwnKind } from '../../controllers/self-check/questions.ts';
import { ELSEWHERE_ACCESS, NAMESPACE, OWN_ACCESS } from '../../manifests/access.ts';
import type { Binding, Role } from '../../manifests/access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION } from '../../manifests/definitions.ts';
import type { CustomResourceDefinition } from '../../manifests/definitions.ts';
import { HEALTH_CHECK_ACCESS } from '../../manifests/health-check-access.ts';
import { HEALTH_CHECK_DEFINITION, PROPOSED_HEALTH_CHECK_DEFINITION } from '../../manifests/health-check-definitions.ts';
import { METAL3_REMEDIATION_ACCESS } from '../../manifests/metal3-remediation-access.ts';
import { METAL3_REMEDIATION_DEFINITIONS } from '../../manifests/metal3-remediation-definitions.ts';
import { REMEDIATION_ACCESS } from '../../manifests/remediation-access.ts';
import { PROPOSED_REMEDIATION_DEFINITIONS, REMEDIATION_DEFINITIONS } from '../../manifests/remediation-definitions.ts';
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

function rightRemedy(folder: string, namespace: string): string {
  if (namespace === NAMESPACE) return `kubectl apply -k config/${folder}`;
  return `nodefence manifests --namespace ${namespace}${folder === 'rbac' ? '' : ` --with ${folder}`} | kubectl apply -f -`;
}
