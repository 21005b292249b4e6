import { binding, LABELS, rule, WATCH } from './access.ts';
import type { Binding, Role } from './access.ts';

/** To count what others tell of nodes by Events, wherever they write them: node-problem-detector may be told another namespace than `default`. */
const PROBLEM_EVENTS_ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-problem-events', labels: LABELS },
  rules: [rule('', ['events'], WATCH)],
};

/** Installed beside the rest where problems are counted (`kubectl apply -k config/remedies`). */
export const PROBLEM_ACCESS: readonly (Role | Binding)[] = [PROBLEM_EVENTS_ROLE, binding(PROBLEM_EVENTS_ROLE)];
