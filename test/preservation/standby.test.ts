import { describe, expect, it } from 'vitest';
import { DEFINITIONS, ShellWorld } from './shell-world.ts';

describe('a standby that comes to lead', () => {
  it('leaves unknown from then on, once, what of Machines it was not told', async () => {
    const isSplit = await ShellWorld.create({ isSplit: true });
    await isSplit.addNode('silent', { ready: 'False' });
    await isSplit.machines.operator.remove(DEFINITIONS, 'machines.machine.sapcloud.io');
    const { controller, leadership } = isSplit.start({ isLeading: false });
    await isSplit.pass(100_000);
    expect(controller.guardOf('silent')).toBeUndefined();
    const told: string[] = [];
    controller.onChange((nodes) => void told.push(...nodes));
    leadership.isLeading = true;
    controller.wake();
    expect(controller.guardOf('silent')).toBe('unknown');
    await isSplit.pass(40_000);
    controller.wake();
    expect(controller.guardOf('silent')).toBe('unknown');
    told.length = 0;
    await isSplit.pass(6_000);
    expect(controller.guardOf('silent')).toBeUndefined();
    expect(told).toContain('silent');
    await isSplit.end();
  });
});
