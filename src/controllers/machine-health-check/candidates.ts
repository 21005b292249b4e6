import { Multimap } from './multimap.ts';
import type { HealthCheck, MachineFacts } from './snapshot.ts';
import { keyOf } from './snapshot.ts';

type Labelled = Pick<MachineFacts, 'namespace' | 'labels'>;

/**
 * Which machines a check may select, and which checks a machine may be selected by, without trying each with each: by one label that all machines of a check
 * have. More than are selected, never fewer.
 */
export class Candidates {
  /** By namespace, and by namespace and label. */
  readonly #machines = new Multimap();
  readonly #checks = new Multimap();
  /** Where each check stands in `#checks`. */
  readonly #places = new Map<string, string>();

  putMachine(machine: MachineFacts): void {
    for (const place of placesOf(machine)) this.#machines.add(place, keyOf(machine));
  }

  removeMachine(machine: MachineFacts): void {
    for (const place of placesOf(machine)) this.#machines.remove(place, keyOf(machine));
  }

  /** Returns the keys of the machines that it may select. */
  putCheck(check: HealthCheck): ReadonlySet<string> {
    // The rarest of its labels leaves the fewest.
    const places = placesOf({ namespace: check.namespace, labels: check.matchLabels });
    const place = places.reduce((rarest, each) => (this.#machines.at(each).size <= this.#machines.at(rarest).size ? each : rarest));
    this.#places.set(keyOf(check), place);
    this.#checks.add(place, keyOf(check));
    return this.#machines.at(place);
  }

  removeCheck(check: string): void {
    this.#checks.remove(this.#places.get(check) ?? '', check);
    this.#places.delete(check);
  }

  /** Keys of the checks that may select it. */
  checksFor(machine: Labelled): string[] {
    return placesOf(machine).flatMap((place) => [...this.#checks.at(place)]);
  }
}

/** The namespace itself stands first: a check without labels may select any machine of it. */
function placesOf({ namespace, labels }: Labelled): [string, ...string[]] {
  return [namespace, ...Object.entries(labels).map(([key, value]) => `${namespace}\n${key}\n${value}`)];
}
