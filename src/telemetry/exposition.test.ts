import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { expect, it } from 'vitest';
import { Exposition } from './exposition.ts';

/** One of each kind; `series` of the gauge. */
function registryOf(series: number): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = new Gauge({ name: 'pods', help: 'Pods\\of a\nnode.', labelNames: ['node'], registers });
  for (let number = 0; number < series; number += 1) gauge.set({ node: `node-${number}` }, number / 3);
  gauge.set({ node: 'says "a\\b"\nand more' }, Number.POSITIVE_INFINITY);
  new Counter({ name: 'offs_total', help: 'Offs.', registers }).inc(3);
  const seconds = new Histogram({ name: 'off_seconds', help: 'Time of an off.', labelNames: ['agent'], buckets: [0.1, 1], registers });
  for (const time of [0.05, 0.5, 5]) seconds.observe({ agent: 'redfish' }, time);
  new Summary({ name: 'lag_seconds', help: 'Lag.', percentiles: [0.5], registers }).observe(2);
  return registry;
}

it('a page of metrics is what the registry itself prints, also the second time', async () => {
  const registry = registryOf(20);
  const exposition = new Exposition(registry);
  expect(await exposition.render()).toBe(await registry.metrics());
  (registry.getSingleMetric('pods') as Gauge).set({ node: 'node-1' }, 7);
  expect(await exposition.render()).toBe(await registry.metrics());
});

it('others have their turn while a long page of metrics is made', async () => {
  const exposition = new Exposition(registryOf(10_000));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const page = await exposition.render();
  isOver = true;
  expect(page.split('\n').length).toBeGreaterThan(10_000);
  expect(turns).toBeGreaterThanOrEqual(4);
});
