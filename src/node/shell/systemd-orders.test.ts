import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { SystemClock } from '../../runtime/system-clock.ts';
import { Children } from '../checks/children.ts';
import { chooseUnit } from './order-units.ts';
import { OrderRecordFile } from './order-record-store.ts';
import { SystemdOrders } from './systemd-orders.ts';
import type { SystemdOrdersOptions } from './systemd-orders.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'nodefence-orders-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Plays systemctl: notes how it was called, and does what the script says. */
function orders(script: string, options: Partial<SystemdOrdersOptions> = {}): SystemdOrders {
  const systemctl = join(folder, 'systemctl');
  writeFileSync(systemctl, `#!/bin/sh\necho "$*" >> ${folder}/calls\n${script}\n`);
  chmodSync(systemctl, 0o755);
  return new SystemdOrders({ children: new Children({ clock: new SystemClock(), stateFolder: join(folder, 'run') }), systemctl, ...options });
}

const calls = (): string[] => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n') : []);
const QUIET = '--no-ask-password --no-pager';

describe('orders through systemd', { timeout: 20_000 }, () => {
  it('restart the unit of the kubelet that runs here', async () => {
    const show =
      'for u in $*; do case $u in k3s.service) echo Id=$u; echo LoadState=loaded; echo ActiveState=active; echo;; *.service) echo Id=$u; echo LoadState=not-found; echo ActiveState=inactive; echo;; esac; done';
    const made = orders(`case "$*" in *show*) ${show};; esac`);
    expect(await made.execute('restart-kubelet')).toEqual({ isDone: true, words: 'k3s.service was restarted' });
    expect(calls()).toHaveLength(2);
    expect(calls()[1]).toBe(`${QUIET} restart k3s.service`);
  });

  it('restart the units that the admin named, and look for none', async () => {
    const made = orders('', { kubeletUnit: 'my-kubelet.service', containerRuntimeUnit: 'my-runtime.service' });
    await made.execute('restart-kubelet');
    expect(await made.execute('restart-container-runtime')).toEqual({ isDone: true, words: 'my-runtime.service was restarted' });
    expect(calls()).toEqual([`${QUIET} restart my-kubelet.service`, `${QUIET} restart my-runtime.service`]);
  });

  it('say which unit to name where none is found, and restart nothing', async () => {
    const answer = await orders('').execute('restart-container-runtime');
    expect(answer.isDone).toBe(false);
    expect(answer.words).toMatch(/^no unit of the container runtime is loaded here .*--container-runtime-unit$/);
    expect(calls()).toHaveLength(1);
  });

  it('reboot in order: nothing is forced', async () => {
    expect(await orders('').execute('reboot')).toEqual({ isDone: true, words: 'systemd reboots the machine' });
    expect(calls()).toEqual([`${QUIET} reboot`]);
  });

  it('fail in the words of systemctl', async () => {
    const answer = await orders('echo "Unit x.service not found." >&2; exit 5', { kubeletUnit: 'x.service' }).execute('restart-kubelet');
    expect(answer).toEqual({ isDone: false, words: 'systemctl ended with code 5: Unit x.service not found.' });
  });

  it('fail where there is no systemd', async () => {
    const answer = await orders('', { systemctl: join(folder, 'none') }).execute('reboot');
    expect(answer).toEqual({
      isDone: false,
      words: 'systemctl is not installed here: a pod needs an image that has it, and part soft-fence of the DaemonSet',
    });
  });

  it('wait no longer than their deadline for a systemctl that hangs, and end it', async () => {
    const beganMs = performance.now();
    const answer = await orders('exec sleep 60', { deadlinesMs: { look: 300, restart: 300, reboot: 300 } }).execute('reboot');
    expect(answer).toEqual({ isDone: false, words: 'systemctl did not end in time' });
    expect(performance.now() - beganMs).toBeLessThan(5_000);
  });
});

describe('chooseUnit', () => {
  const block = (load: string, active: string): string => `Id=whatever.service\nLoadState=${load}\nActiveState=${active}\n`;
  it.each([
    ['the first that runs', [block('loaded', 'inactive'), block('loaded', 'active'), block('loaded', 'active')], 'b'],
    ['one that failed before one that is off', [block('loaded', 'inactive'), block('loaded', 'failed'), block('not-found', 'inactive')], 'b'],
    ['the first that is loaded', [block('not-found', 'inactive'), block('loaded', 'inactive'), block('loaded', 'inactive')], 'b'],
    ['none that is masked', [block('masked', 'inactive'), block('not-found', 'inactive'), block('masked', 'active')], undefined],
  ])('takes %s', (_, blocks, unit) => {
    expect(chooseUnit(['a', 'b', 'c'], blocks.join('\n'))).toBe(unit);
  });
});

describe('the record of orders', () => {
  const RECORD = { bootID: 'boot-1', epoch: 3, orders: [{ id: 'a', action: 'reboot' as const, state: 'done' as const, words: 'w' }] };

  it('is read back in the same boot, and only there', async () => {
    const path = join(folder, 'run/orders.json');
    const file = new OrderRecordFile(path, 'boot-1');
    expect(await file.read()).toBeUndefined();
    file.write(RECORD);
    expect(await new OrderRecordFile(path, 'boot-1').read()).toEqual(RECORD);
    expect(await new OrderRecordFile(path, 'boot-2').read()).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"bootID":"boot-1","epoch":"3","orders":[]}', '{"bootID":"boot-1","epoch":3,"orders":[{"id":"a"}]}'])(
    'that is broken is none: %s',
    async (text) => {
      mkdirSync(join(folder, 'run'));
      writeFileSync(join(folder, 'run/orders.json'), text);
      await expect(new OrderRecordFile(join(folder, 'run/orders.json'), 'boot-1').read()).rejects.toThrow('is no record of orders');
    },
  );
});
