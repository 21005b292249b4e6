// A pod with part soft-fence and no capability at all reaches the real systemd of its machine by D-Bus alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_DAEMON_DUTIES } from '../../src/manifests/node-daemonset.ts';
import { Children } from '../../src/node/checks/children.ts';
import { SystemdOrders } from '../../src/node/shell/systemd-orders.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemdMachine, whyNoSystemd } from './systemd-machine.ts';

interface Patch {
  spec: { template: { spec: { containers: readonly [{ volumeMounts: readonly { mountPath: string }[] }] } } };
}
/** What the part shows of the host. */
const [{ volumeMounts }] = (NODE_DAEMON_DUTIES['soft-fence'] as Patch).spec.template.spec.containers;
const SHOWN = volumeMounts.map(({ mountPath }) => mountPath.replace('/run/', ''));
const NEEDS = whyNoSystemd();
/** What an order may take is the daemon's law, and tested with it: here a busy computer only makes it slow. */
const PATIENCE_MS = 180_000;
const DEADLINES_MS = { look: 60_000, restart: 60_000, reboot: 60_000 };

describe.runIf(NEEDS === undefined)(
  `orders in a pod with part soft-fence (needs ${NEEDS ?? 'root, systemd and D-Bus'})`,
  { timeout: PATIENCE_MS },
  () => {
    let machine: SystemdMachine;
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'nodefence-pod-orders-'));
      machine = new SystemdMachine();
      await machine.start();
    }, PATIENCE_MS);
    afterAll(async () => {
      await machine.end();
      rmSync(folder, { recursive: true });
    });

    const orders = (shown: readonly string[]): SystemdOrders =>
      new SystemdOrders({
        children: new Children({ clock: new SystemClock(), stateFolder: folder }),
        systemctl: machine.systemctl(shown),
        deadlinesMs: DEADLINES_MS,
      });
    const kubelet = (): string => machine.run('systemctl', 'show', '--property=MainPID,ActiveState', 'kubelet.service');

    it('restart the kubelet, which systemd finds by its usual name', async () => {
      const before = kubelet();
      expect(await orders(SHOWN).execute('restart-kubelet')).toEqual({ isDone: true, words: 'kubelet.service was restarted' });
      expect(kubelet()).toMatch(/ActiveState=active/);
      expect(kubelet()).not.toBe(before);
    });

    it.each(SHOWN.map((one) => [one]))('are refused in words where the pod is not shown /run/%s', async (missing) => {
      const before = kubelet();
      const answer = await orders(SHOWN.filter((one) => one !== missing)).execute('restart-kubelet');
      expect(answer).toMatchObject({ isDone: false, words: expect.stringMatching(/^systemctl ended with code 1: .*(?:bus|systemd)/s) as string });
      expect(kubelet()).toBe(before);
    });

    it('reboot it in order, by its own reboot.target', async () => {
      expect(await orders(SHOWN).execute('reboot')).toEqual({ isDone: true, words: 'systemd reboots the machine' });
      // systemd has taken the order, and starts its target behind the answer.
      await expect.poll(() => machine.run('ls', '/run'), { timeout: 10_000 }).toContain('rebooted');
    });
  },
);
