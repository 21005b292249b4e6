import { isUnsure, signsOfWork } from '../../config/other-controller.ts';
import type { OtherFacts } from '../../config/other-controller.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { Detector, SOON_MS } from '../detection/detector.ts';
import { SignMemory } from '../detection/sign-memory.ts';
import { detectGroup, mayHaveOperator } from './mode.ts';
import type { FoundFacts, GroupFacts, OwnPart } from './mode.ts';

export interface PartDetectorOptions {
  clock: Clock;
  log: Logger;
  read: () => Promise<FoundFacts>;
  /** Called with each look; `part` is empty where nothing is ours. */
  onPart: (part: OwnPart, hasOperator: boolean) => void;
  leastRestMs?: number | undefined;
}

const LOOK_MS = 60_000;

/** Looks again and again whose part machine remediation is, group by group, and whether an operator serves the hosts. */
export function partDetector({ clock, log, read, onPart, leastRestMs }: PartDetectorOptions): Detector<FoundFacts> {
  const memories = new Map<string, SignMemory<GroupFacts>>();
  const operators = new SignMemory<OtherFacts>(clock, signsOfWork);
  const told = new Map<string, string>();
  const judge = (found: FoundFacts): number => {
    const operator = operators.recall(found.operator);
    const groups: { group: string; version: string }[] = [];
    let isOpen = isUnsure(operator);
    for (const each of found.groups) {
      const memory = memories.get(each.group) ?? new SignMemory<GroupFacts>(clock, signsOfWork);
      memories.set(each.group, memory);
      const facts = memory.recall(each);
      const { isOwn, reason } = detectGroup(facts);
      if (isOwn && facts.version !== undefined) groups.push({ group: facts.group, version: facts.version });
      isOpen ||= isOwn || isUnsure(facts);
      const words = `${isOwn ? 'own' : 'off'}: ${reason}`;
      // Nobody wants to read of what is not there.
      if (told.get(facts.group) === words || (facts.version === undefined && !told.has(facts.group))) continue;
      told.set(facts.group, words);
      log.info('remediation of machines', { resource: `machines.${facts.group}`, mode: words });
    }
    onPart({ groups, hasHosts: found.hasHosts }, mayHaveOperator({ ...found, operator }));
    return isOpen ? SOON_MS : LOOK_MS;
  };
  return new Detector({ clock, log, question: 'whose part machine remediation is', read, judge, leastRestMs });
}
