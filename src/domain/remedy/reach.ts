import type { AlarmSetting, ConditionStatus, RemedyConfiguration, Threshold } from './configuration.ts';

/** Two Configurations that answer the same condition of one node: neither does. */
export interface RemedyOverlap {
  /** `Ready Unknown`, `Ready flap`. */
  readonly condition: string;
  readonly configurations: readonly RemedyConfiguration[];
}

export interface NodeRemedies {
  /** Those that act on the node, in the order of their Configurations. */
  readonly thresholds: readonly Threshold[];
  readonly overlaps: readonly RemedyOverlap[];
  readonly alarms: readonly AlarmSetting[];
  /** Some Configuration has an error: what is missing here may be configured all the same. */
  readonly isIncomplete?: boolean;
}

/** What the Configurations say about a node with these labels. Thresholds that overlap are left out on both sides: nobody can tell which one was meant. */
export function remediesFor(configurations: readonly RemedyConfiguration[], labels: Readonly<Record<string, string>>): NodeRemedies {
  const selected = configurations.filter((configuration) => configuration.selects(labels));
  const owners = new Map<string, RemedyConfiguration[]>();
  for (const configuration of selected) {
    for (const condition of new Set(configuration.thresholds.flatMap(conditionsOf))) {
      owners.set(condition, [...(owners.get(condition) ?? []), configuration]);
    }
  }
  const overlaps = [...owners]
    .filter(([, several]) => several.length > 1)
    .map(([condition, several]): RemedyOverlap => ({ condition, configurations: several }));
  const taken = new Set(overlaps.map(({ condition }) => condition));
  return {
    thresholds: selected.flatMap(({ thresholds }) => thresholds).filter((threshold) => !conditionsOf(threshold).some((one) => taken.has(one))),
    overlaps,
    alarms: selected.flatMap(({ alarms }) => alarms),
  };
}

/** What a threshold answers, one word for each status, so that two can be compared. */
export function conditionsOf({ conditionType, trigger }: Pick<Threshold, 'conditionType' | 'trigger'>): string[] {
  if (trigger.kind === 'flap') return [`${conditionType} flap`];
  return trigger.statuses.map((status: ConditionStatus) => `${conditionType} ${status}`);
}
