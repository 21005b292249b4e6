import type { Plan, PlanLevel } from '../../src/domain/plan.ts';

/** The plan as it would be made of these methods of it alone; recovery as it is. */
export function narrowed(plan: Plan, methods: readonly string[]): Plan {
  const only = (levels: readonly PlanLevel[]): PlanLevel[] =>
    levels
      .map(({ level, methods: all }) => ({ level, methods: all.filter(({ name }) => methods.includes(name)) }))
      .filter(({ methods: left }) => left.length > 0);
  return { ...plan, isolation: only(plan.isolation), powerManagement: only(plan.powerManagement) };
}
