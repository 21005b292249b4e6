import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes the metrics of one registry. Names end in their unit or `_total`, help is a sentence. */
export class Meters {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  /** A counter of what happens thousands of times between two scrapes: labels are looked up for the scrape. */
  tally(name: string, help: string, labelNames: readonly string[]): (...values: readonly string[]) => void {
    const counts = new Map<string, { labels: Record<string, string>; count: number }>();
    const labelled = (values: readonly string[]): Record<string, string> =>
      Object.fromEntries(labelNames.map((label, at) => [label, values[at] ?? '']));
    const counter = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: this.#registers,
      collect: () => {
        for (const { labels, count } of counts.values()) counter.inc(labels, count);
        counts.clear();
      },
    });
    return (...values) => {
      const key = values.join(' ');
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { labels: labelled(values), count: 1 });
      else known.count += 1;
    };
  }

  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  /** `buckets` in seconds, as all that is observed. */
  seconds<L extends string = never>(name: string, help: string, buckets: readonly number[], labelNames: readonly L[] = []): Histogram<L> {
    return new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers: this.#registers });
  }
}

/** Exactly these values of one label stand from now on. */
export function setAll<L extends string>(gauge: Gauge<L>, label: L, values: Iterable<readonly [string, number]>): void {
  gauge.reset();
  for (const [value, count] of values) gauge.set({ [label]: value } as Record<L, string>, count);
}

/** A duration of these labels in seconds; `undefined`: there is none any more. */
export function setOrRemove<L extends string>(gauge: Gauge<L>, labels: Record<L, string>, durationMs: number | undefined): void {
  if (durationMs === undefined) gauge.remove(labels);
  else gauge.set(labels, durationMs / 1000);
}
