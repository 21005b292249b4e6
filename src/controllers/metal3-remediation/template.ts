import type { Metal3RemediationTemplate } from '../../ports/metal3.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import { readSpec } from './spec.ts';

/** What cannot be followed in a template is said there, before anything is made of it. */
export function templateKind({ own, templates, recorder }: Metal3RemediationDependencies): ReconciledKind<Metal3RemediationTemplate> {
  const { group, version, kind } = templates.resource;
  const apiVersion = `${group}/${version}`;
  return {
    kind,
    lister: templates.lister,
    isGoneForgotten: true,
    get: (namespace, name) => own.cluster.get(templates.resource, name, namespace),
    reconcile: (key, { spec }) => {
      const problems = readSpec(apiVersion, spec?.template?.spec).problems.map((problem) => `${key}: ${problem}`);
      return Promise.resolve(problems.length === 0 ? undefined : { actions: [], problems, perform: () => Promise.resolve() });
    },
    record: (_key, { metadata }, problem) => {
      recorder.event({ apiVersion, kind, metadata }, 'Warning', 'TemplateNotFollowed', problem);
    },
  };
}
