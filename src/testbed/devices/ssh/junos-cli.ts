import type { CliAnswer, CliSession } from './command-line.ts';
import type { PortShown, SwitchPorts } from './switch-ports.ts';

const WHO = 'fence@ex4300';
const LEAD = '{master:0}';

/** Junos, as far as closing a port needs it: changes stand in a candidate of the session's own until they are committed. */
export class JunosCli implements CliSession {
  readonly #ports: SwitchPorts;
  #isConfiguring = false;
  #candidate: { port: string; wanted: 'on' | 'off' } | undefined;

  constructor(ports: SwitchPorts) {
    this.#ports = ports;
  }

  prompt(): string {
    return `${LEAD}${this.#isConfiguring ? '[edit]' : ''}\r\n${WHO}${this.#isConfiguring ? '# ' : '> '}`;
  }

  type(line: string): CliAnswer {
    const words = line.trim();
    if (words === '') return { lines: [] };
    if (this.#isConfiguring) return this.#configure(words);
    if (/^set cli screen-(length|width) 0$/.test(words)) return { lines: [`Screen ${words.split('-')[1]?.replace(' ', ' set to ') ?? ''}`] };
    const show = /^show interfaces (\S+) \| no-more$/.exec(words);
    if (show !== null) return this.#show(show[1] ?? '');
    if (words === 'configure private') {
      if (this.#ports.faults.refuses === true) {
        this.#ports.commands.push({ plug: '', wanted: 'other' });
        return { lines: ['            ^', 'error: permission denied: configure'] };
      }
      this.#isConfiguring = true;
      return { lines: ['warning: uncommitted changes will be discarded on exit', 'Entering configuration mode', ''] };
    }
    return { lines: ['      ^', 'unknown command.'] };
  }

  #configure(words: string): CliAnswer {
    const change = /^(set|delete) interfaces (\S+) disable$/.exec(words);
    if (change !== null) {
      const port = change[2] ?? '';
      const wanted = change[1] === 'set' ? 'off' : 'on';
      if (wanted === 'on' && this.#ports.has(port) && this.#ports.flows(port)) return { lines: ['warning: statement not found', ''] };
      this.#candidate = { port, wanted };
      return { lines: [''] };
    }
    if (words === 'commit') return this.#commit();
    if (words === 'exit') {
      this.#isConfiguring = false;
      this.#candidate = undefined;
      return { lines: ['Exiting configuration mode', ''] };
    }
    return { lines: ['      ^', 'syntax error.'] };
  }

  #commit(): CliAnswer {
    const { port, wanted } = this.#candidate ?? { port: '', wanted: 'off' };
    if (this.#candidate !== undefined && this.#ports.has(port)) this.#ports.set(port, wanted);
    this.#candidate = undefined;
    return { lines: ['configuration check succeeds', 'commit complete', ''], isSlow: true };
  }

  #show(name: string): CliAnswer {
    if (!this.#ports.has(name)) return { lines: [`error: device ${name} not found`] };
    const rest = [
      '  Interface index: 134, SNMP ifIndex: 502',
      `  Description: ${this.#ports.describe(name)}`,
      '  Link-level type: Ethernet, MTU: 1514',
    ];
    return { lines: [...head(name, this.#ports.shown(name)), ...rest, ''], isSlow: true, isShow: true };
  }
}

function head(name: string, shown: PortShown): string[] {
  const words: Readonly<Record<PortShown, string[]>> = {
    open: [`Physical interface: ${name}, Enabled, Physical link is Up`],
    closed: [`Physical interface: ${name}, Administratively down, Physical link is Down`],
    pending: [`Physical interface: ${name}, Administratively down, Physical link is Up`],
    unknown: [`Physical interface: ${name}, Sideways, Physical link is Dancing`],
    missing: [],
  };
  return words[shown];
}
