import type { Metal3RemediationTemplate } from '../../ports/metal3.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import type { WriteGate } from '../shared/write-gate.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import { readSpec } from './spec.ts';

/** What cannot be followed in a template is said there, before anything is made of it. */
export function templateKind(
  { own, templates, log, recorder }: Metal3RemediationDependencies,
  gate: WriteGate,
): ReconciledKind<Metal3RemediationTemplate> {
  const { group, version, kind } = templates.resource;
  const apiVersion = `${group}/${version}`;
  return {
    kind,
    lister: templates.lister,
    isGoneForgotten: true,
    get: (namespace, name) => own.cluster.get(templates.resource, name, namespace),
    reconcile: (key, { metadata, spec }) => {
      for (const problem of readSpec(apiVersion, spec?.template?.spec).problems) {
        log.warn('remediation template problem', { problem: `${key}: ${problem}` });
        if (gate.mayWrite()) recorder.event({ apiVersion, kind, metadata }, 'Warning', 'TemplateNotFollowed', problem);
      }
      return Promise.resolve(undefined);
    },
  };
}
