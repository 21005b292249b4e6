import type { Clock } from '../../src/ports/clock.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { startSshHost } from './ssh-host.ts';
import type { Ending, SshHost } from './ssh-host.ts';

export interface SshMachine extends SshHost {
  commands: { plug: string; wanted: 'on' | 'off' | 'other' }[];
  isRunning(): boolean;
}

const CALL_MS = 4_000;
const LATE_MS = CALL_MS + 1_000;

/** A machine with one service that can be stopped over SSH; `flows` is whether it runs. */
export async function startSshMachine(clock: Clock, behaviour: Behaviour, isOn: boolean, password: string): Promise<SshMachine> {
  const commands: ReturnType<DeviceFixture['commands']>[number][] = [];
  const timers = new Set<() => void>();
  let isRunning = isOn;

  function answer(command: string): Ending {
    if (command === 'systemctl stop kubelet') {
      commands.push({ plug: '', wanted: 'off' });
      if (behaviour === 'refuses') return { stdout: '', stderr: 'Failed to restart kubelet.service: Access denied\n', code: 1 };
      const isLate = behaviour === 'late-after-deadline';
      if (isLate) timers.add(clock.after(LATE_MS, () => (isRunning = false)));
      else if (behaviour !== 'accepts-and-lies') isRunning = false;
      return { stdout: '', stderr: '', code: 0, ...(isLate ? { afterMs: LATE_MS } : {}) };
    }
    if (behaviour === 'accepts-and-lies') return { stdout: 'inactive\n', stderr: '', code: 3 };
    return isRunning ? { stdout: 'active\n', stderr: '', code: 0 } : { stdout: 'stopped\n', stderr: '', code: 0 };
  }

  const host = await startSshHost({ clock, behaviour, password, answer });
  return {
    ...host,
    commands,
    isRunning: () => isRunning,
    async close() {
      for (const cancel of timers) cancel();
      await host.close();
    },
  };
}
