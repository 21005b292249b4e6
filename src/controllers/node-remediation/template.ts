import type { NodeFenceRemediationTemplate } from '../../ports/remediation.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import type { Annotate, Marks, ObjectRef } from '../shared/remediation/actions.ts';
import { annotationsPatch } from '../shared/remediation/patch.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import type { WriteGate } from '../shared/write-gate.ts';
import type { RemediationDependencies, WatchedKind } from './dependencies.ts';
import { MULTIPLE_TEMPLATES } from './names.ts';

/** Every template says that others of its kind may be used beside it: one without would make medik8s refuse them all. `undefined`: it does. */
export function decideTemplate(target: ObjectRef, annotations: Marks): Annotate | undefined {
  if (annotations[MULTIPLE_TEMPLATES] !== undefined) return undefined;
  return { kind: 'annotate', target, changes: changesTo(annotations, { [MULTIPLE_TEMPLATES]: 'true' }) };
}

export function templateKind(
  { templates, listers }: WatchedKind,
  { cluster }: Pick<RemediationDependencies, 'cluster'>,
  gate: WriteGate,
): ReconciledKind<NodeFenceRemediationTemplate> {
  const { group, version, kind } = templates;
  return {
    kind,
    lister: listers.templates,
    isGoneForgotten: true,
    get: (namespace, name) => cluster.get(templates, name, namespace),
    reconcile: async (_key, object) => {
      const { name, namespace = '', uid = '', annotations = {}, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined) return undefined;
      const action = decideTemplate({ apiVersion: `${group}/${version}`, kind, name, namespace, uid }, annotations);
      if (action !== undefined && gate.mayWrite()) await cluster.mergePatch(templates, name, annotationsPatch(object, action.changes), { namespace });
      return undefined;
    },
  };
}
