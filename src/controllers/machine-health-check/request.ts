import type { KubeObject } from '../../ports/objects.ts';
import { CLONED_FROM_KIND, CLONED_FROM_NAME, CLUSTER_NAME_LABEL, TEMPLATE_SUFFIX } from './names.ts';
import { loosely, groupOf } from './read/objects.ts';
import type { MachineFacts, TemplateFacts, TemplateRef } from './snapshot.ts';

/** What a template of this kind makes: the same without the suffix. */
export function requestKind(templateKind: string): string {
  return templateKind.endsWith(TEMPLATE_SUFFIX) ? templateKind.slice(0, -TEMPLATE_SUFFIX.length) : templateKind;
}

/**
 * The request for one machine: a copy of the template's `spec.template` under the machine's name, owned by it. Finalizers and owners that a template
 * names are not taken over: whoever remediates sets his own.
 */
export function requestFor(machine: MachineFacts, ref: TemplateRef, found: TemplateFacts): KubeObject & { spec?: unknown } {
  const metadata = loosely(found.template).child('metadata');
  const { metadata: _metadata, status: _status, ...content } = found.template ?? {};
  const labels = {
    ...metadata.child('labels').textRecord(),
    ...(machine.clusterName !== undefined && { [CLUSTER_NAME_LABEL]: machine.clusterName }),
  };
  return {
    ...content,
    apiVersion: ref.apiVersion,
    kind: requestKind(ref.kind),
    metadata: {
      name: machine.name,
      namespace: machine.namespace,
      labels,
      annotations: {
        ...metadata.child('annotations').textRecord(),
        [CLONED_FROM_NAME]: ref.name,
        [CLONED_FROM_KIND]: `${ref.kind}.${groupOf(ref.apiVersion)}`,
      },
      ownerReferences: [{ apiVersion: machine.apiVersion, kind: 'Machine', name: machine.name, uid: machine.uid }],
    },
  };
}
