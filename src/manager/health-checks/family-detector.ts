import { isUnsure, signsOfWork } from '../../config/other-controller.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { Detector, SOON_MS } from '../detection/detector.ts';
import { SignMemory } from '../detection/sign-memory.ts';
import { detectFamily } from './mode.ts';
import type { FamilyFacts, HealthCheckChoice, ServedFamily } from './mode.ts';

/** What was found, by group. */
export type FoundFamilies = ReadonlyMap<string, FamilyFacts>;

export interface FamilyDetectorOptions {
  clock: Clock;
  log: Logger;
  choice: HealthCheckChoice;
  read: () => Promise<FoundFamilies>;
  /** All that are ours now; called when that differs from before. */
  onOwn: (families: readonly ServedFamily[]) => void;
  leastRestMs?: number | undefined;
}

const LOOK_MS = 60_000;

/** Looks again and again whose part health checks are, group by group. */
export function familyDetector({ clock, log, choice, read, onOwn, leastRestMs }: FamilyDetectorOptions): Detector<FoundFamilies> {
  const memories = new Map<string, SignMemory<FamilyFacts>>();
  const told = new Map<string, string>();
  let before = '[]';
  const judge = (found: FoundFamilies): number => {
    const own: ServedFamily[] = [];
    let isOpen = false;
    for (const [group, each] of found) {
      const memory = memories.get(group) ?? new SignMemory<FamilyFacts>(clock, signsOfWork);
      memories.set(group, memory);
      const facts = memory.recall(each);
      const { isOwn, reason } = detectFamily(choice, facts);
      if (isOwn && facts.served !== undefined) own.push(facts.served);
      isOpen ||= isOwn || isUnsure(facts);
      const words = `${isOwn ? 'own' : 'off'}: ${reason}`;
      // Nobody wants to read of what is not there.
      if (told.get(group) !== words && (facts.served !== undefined || told.has(group))) {
        told.set(group, words);
        log.info('health checks of machines', { group, mode: words });
      }
    }
    const text = JSON.stringify(own);
    if (text !== before) {
      before = text;
      onOwn(own);
    }
    return isOpen ? SOON_MS : LOOK_MS;
  };
  return new Detector({ clock, log, question: 'whose part health checks are', read, judge, leastRestMs });
}
