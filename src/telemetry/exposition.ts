import { setImmediate } from 'node:timers/promises';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

/** About a millisecond of lines: others have their turn in between. */
const LINES_PER_TURN = 1_000;

type Labels = MetricValue<string>['labels'];
type Values = MetricObjectWithValues<MetricValue<string>>;
/** A value of a histogram or summary goes by another name: its own with `_bucket`, `_sum` or `_count`. */
type Value = MetricValue<string> & { metricName?: string };

/**
 * The text format of Prometheus, as the registry itself prints it, in turns that do not block the event loop however many series there are. What stands before
 * a value is kept for as long as its labels are.
 */
export class Exposition {
  readonly #registry: Registry;
  readonly #labels = new WeakMap<Labels, string>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async render(): Promise<string> {
    const chunks: string[] = [];
    let lines: string[] = [];
    const turn = async (): Promise<void> => {
      if (lines.length > 0) chunks.push(lines.join('\n'));
      lines = [];
      await setImmediate();
    };
    for (const metric of this.#registry.getMetricsAsArray()) {
      const { name, help, type, values } = await (metric as unknown as { get(): Promise<Values> }).get();
      if (values.length >= LINES_PER_TURN) await turn();
      if (chunks.length + lines.length > 0) lines.push('');
      lines.push(`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${String(type)}`);
      for (const { metricName = name, labels, value } of values as readonly Value[]) {
        lines.push(`${metricName}${this.#labelsOf(labels)} ${textOf(value)}`);
        if (lines.length >= LINES_PER_TURN) await turn();
      }
    }
    return `${[...chunks, ...lines].join('\n')}\n`;
  }

  #labelsOf(labels: Labels): string {
    const known = this.#labels.get(labels);
    if (known !== undefined) return known;
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value)).replaceAll('"', '\\"')}"`);
    const text = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    this.#labels.set(labels, text);
    return text;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function textOf(value: number): string {
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
