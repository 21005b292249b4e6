import type { CliAnswer } from './command-line.ts';
import type { PortShown, SwitchPorts } from './switch-ports.ts';

/** Brocade Fabric OS, as far as closing a port needs it: one command at a time, by exec. */
export class FosCli {
  readonly #ports: SwitchPorts;

  constructor(ports: SwitchPorts) {
    this.#ports = ports;
  }

  type(line: string): CliAnswer {
    const [command, port = ''] = unwrapped(line).trim().split(/\s+/);
    switch (command) {
      case 'switchshow':
        return { lines: this.#switchShow(), isSlow: true, isShow: true };
      case 'portcfgshow':
        return this.#of(port, () => ({ lines: this.#configuration(port), isShow: true }));
      case 'portshow':
        return this.#of(port, () => ({ lines: [`portIndex:  ${port}`, `portName: ${this.#ports.describe(port)}`, 'portHealth: HEALTHY'] }));
      case 'portcfgpersistentdisable':
      case 'portcfgpersistentenable':
        return this.#of(port, () => ({
          lines: this.#ports.set(port, command.endsWith('disable') ? 'off' : 'on') ? [] : ['RBAC permission denied.'],
          isSlow: true,
        }));
      default:
        return { lines: [`rbash: ${command ?? ''}: command not found`] };
    }
  }

  #of(port: string, answer: () => CliAnswer): CliAnswer {
    return this.#ports.has(port) ? answer() : { lines: [`Error: ${port} is not a valid port`] };
  }

  #configuration(port: string): string[] {
    const shown = this.#ports.shown(port);
    const isDisabled = shown === 'closed' || shown === 'pending';
    const row = shown === 'missing' ? [] : [`Persistent Disable        ${shown === 'unknown' ? '??' : isDisabled ? 'ON' : 'OFF'}`];
    return [`Area Number:              ${port.replace(/^\d+\//, '')}`, 'Speed Level:              AUTO(SW)', ...row, 'LOS TOV enable            OFF'];
  }

  #switchShow(): string[] {
    const isChassis = this.#ports.names.some((name) => name.includes('/'));
    const title = `Index ${isChassis ? 'Slot ' : ''}Port Address  Media Speed   State       Proto`;
    const rows = this.#ports.names.flatMap((name, index) => this.#row(name, index));
    return ['switchName:\tfc-sw-a', 'switchState:\tOnline', 'switchDomain:\t1', '', title, '='.repeat(title.length), ...rows];
  }

  #row(name: string, index: number): string[] {
    const [slot, port] = name.includes('/') ? name.split('/') : ['', name];
    const lead = ` ${index}  ${slot ?? ''} ${port ?? ''}  01${index.toString(16).padStart(2, '0')}00   id    N16`;
    const words: Readonly<Record<PortShown, string[]>> = {
      open: [`${lead}\t  Online      FC  F-Port  10:00:00:05:1e:fd:06:c5 `],
      closed: [`${lead}\t  No_Light    FC  Disabled (Persistent)`],
      pending: [`${lead}\t  Online      FC  Disabled (Persistent)`],
      unknown: [`${lead}\t  Dancing     FC  `],
      missing: [],
    };
    return words[this.#ports.shown(name)];
  }
}

/** A command for one virtual fabric comes in an envelope. */
function unwrapped(line: string): string {
  return /^fosexec --fid \d+ -cmd "(.*)"$/.exec(line)?.[1] ?? line;
}
