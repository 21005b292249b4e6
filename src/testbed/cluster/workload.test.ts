import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { MemoryDisk } from './disk.ts';
import type { DiskRecord } from './disk.ts';
import { Workload } from './workload.ts';

function machine(disk: MemoryDisk, clock: ManualClock, node: string): Workload {
  return new Workload(clock, disk, () => undefined, { node, bootID: 'boot', writeMs: 100 });
}

describe('the workload of a machine', () => {
  it('goes on from the counter that stands on the disk', async () => {
    const [clock, disk] = [new ManualClock(), new MemoryDisk()];
    const [left, right] = [machine(disk, clock, 'a'), machine(disk, clock, 'b')];
    left.start('pod-1', 'default/db-0', ['disk-0']);
    await clock.advance(450);
    left.stop('pod-1');
    right.start('pod-2', 'default/db-0', ['disk-0']);
    await clock.advance(150);
    expect(disk.records.map(({ node, counter }) => `${node}${String(counter)}`)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b6', 'b7']);
  });

  it('does not notice another writer, as a real process would not', async () => {
    const [clock, disk] = [new ManualClock(), new MemoryDisk()];
    machine(disk, clock, 'a').start('pod-1', 'default/db-0', ['disk-0']);
    await clock.advance(250);
    machine(disk, clock, 'b').start('pod-2', 'default/db-0', ['disk-0']);
    await clock.advance(100);
    expect(disk.records.map(({ node, counter }) => `${node}${String(counter)}`)).toEqual(['a1', 'a2', 'a3', 'b4', 'a4', 'b5']);
  });

  it('tries on while it is shut out, and nothing of that is traced', async () => {
    const [clock, memory, traced] = [new ManualClock(), new MemoryDisk(), [] as string[]];
    const shut = { out: false };
    const disk = { last: (volume: string) => memory.last(volume), write: (record: DiskRecord) => !shut.out && memory.write(record) };
    const workload = new Workload(clock, disk, ({ kind }) => void traced.push(kind), { node: 'a', bootID: 'boot', writeMs: 100 });
    workload.start('pod-1', 'default/db-0', ['disk-0']);
    await clock.advance(150);
    shut.out = true;
    await clock.advance(1_000);
    expect(workload.isRunning('pod-1')).toBe(true);
    expect(traced.filter((kind) => kind === 'disk')).toHaveLength(2);
    shut.out = false;
    await clock.advance(100);
    expect(memory.records.map(({ counter }) => counter)).toEqual([1, 2, 3]);
  });

  it('writes nothing more once the power is gone', async () => {
    const [clock, disk] = [new ManualClock(), new MemoryDisk()];
    const workload = machine(disk, clock, 'a');
    workload.start('pod-1', 'default/db-0', ['disk-0']);
    workload.stopAll();
    await clock.advance(1_000);
    expect([disk.records.length, clock.pending]).toEqual([1, 0]);
  });

  it('goes on without a kubelet, but starts nothing new', async () => {
    const [clock, disk] = [new ManualClock(), new MemoryDisk()];
    const workload = machine(disk, clock, 'a');
    workload.start('pod-1', 'default/db-0', ['disk-0']);
    workload.seal();
    workload.start('pod-2', 'default/db-1', ['disk-1']);
    await clock.advance(350);
    expect([disk.last('disk-0'), disk.last('disk-1')]).toEqual([4, 0]);
  });
});
