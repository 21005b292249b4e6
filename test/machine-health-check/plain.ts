import type { Decision } from '../../src/controllers/machine-health-check/actions.ts';

/** Without what depends on the order of lists that have none, and on when a write was first thought of. */
export function plain({ actions, views, notices, problems, nextDueMs }: Decision): unknown {
  const sorted = (items: readonly unknown[]): string[] =>
    items.map((item) => JSON.stringify(item).replaceAll(/"lastTransitionTime":"[^"]*"/g, '')).sort();
  return { actions: sorted(actions), views: sorted(views), notices: sorted(notices), problems: sorted(problems), nextDueMs };
}
