import type { CliAnswer, CliSession } from './command-line.ts';
import type { PortShown, SwitchPorts } from './switch-ports.ts';

const HOST = 'sw-rack7-top-of-rack-a';
const INVALID = ['                ^', "% Invalid input detected at '^' marker.", ''];
type Style = 'ios' | 'nxos' | 'eos';

/** The command lines that descend from Cisco's: IOS, NX-OS and Arista EOS, as far as closing a port needs them. */
export class CiscoCli implements CliSession {
  readonly #ports: SwitchPorts;
  readonly #style: Style;
  readonly #enablePassword: string | undefined;
  #mode: 'user' | 'password' | 'exec' | 'config' | 'interface';
  #port = '';

  /** With `enablePassword` the session begins without privileges. */
  constructor(ports: SwitchPorts, style: Style, enablePassword?: string) {
    this.#ports = ports;
    this.#style = style;
    this.#enablePassword = enablePassword;
    this.#mode = enablePassword === undefined ? 'exec' : 'user';
  }

  prompt(): string {
    // IOS shortens a long name in configuration mode.
    const short = this.#style === 'ios' ? HOST.slice(0, 20) : HOST;
    const blank = this.#style === 'nxos' ? ' ' : '';
    switch (this.#mode) {
      case 'user':
        return `${HOST}>`;
      case 'password':
        return 'Password: ';
      case 'exec':
        return `${HOST}#${blank}`;
      case 'config':
        return `${short}(config)#${blank}`;
      case 'interface':
        return `${short}(config-if${this.#style === 'eos' ? `-${this.#port.slice(0, 2)}${this.#port.replace(/^\D+/, '')}` : ''})#${blank}`;
    }
  }

  type(line: string): CliAnswer {
    const words = line.trim();
    if (this.#mode === 'password') return this.#password(words);
    if (words === '' || /^terminal (length|width) \d+$/.test(words)) return { lines: [] };
    if (words === 'enable' && this.#mode === 'user') {
      this.#mode = 'password';
      return { lines: [] };
    }
    const show = /^show interfaces? (\S+)$/.exec(words);
    if (show !== null) return this.#show(show[1] ?? '');
    if (this.#mode === 'user') return { lines: INVALID };
    return this.#configure(words);
  }

  #password(words: string): CliAnswer {
    const isRight = words === this.#enablePassword;
    this.#mode = isRight ? 'exec' : 'user';
    return { lines: isRight ? [] : ['% Bad secrets', ''] };
  }

  #configure(words: string): CliAnswer {
    const enters = /^interface (\S+)$/.exec(words);
    if (words === 'configure terminal' && this.#mode === 'exec') {
      if (this.#ports.faults.refuses === true && this.#style === 'nxos') {
        this.#ports.commands.push({ plug: '', wanted: 'other' });
        return { lines: ['% Permission denied for the role'] };
      }
      this.#mode = 'config';
      return { lines: this.#style === 'ios' ? ['Enter configuration commands, one per line.  End with CNTL/Z.'] : [] };
    }
    if (words === 'end' && (this.#mode === 'config' || this.#mode === 'interface')) {
      this.#mode = 'exec';
      return { lines: [] };
    }
    if (enters !== null && this.#mode !== 'exec') {
      if (!this.#ports.has(enters[1] ?? '')) return { lines: INVALID };
      this.#mode = 'interface';
      this.#port = enters[1] ?? '';
      return { lines: [] };
    }
    if ((words === 'shutdown' || words === 'no shutdown') && this.#mode === 'interface') {
      const isDone = this.#ports.set(this.#port, words === 'shutdown' ? 'off' : 'on');
      return { lines: isDone ? [] : ['Command authorization failed.', ''], isSlow: true };
    }
    return { lines: INVALID };
  }

  #show(name: string): CliAnswer {
    if (!this.#ports.has(name)) return { lines: INVALID };
    const shown = this.#ports.shown(name);
    const rest = ['  Hardware is Ethernet, address is 0011.2233.4455', '  MTU 9214 bytes, BW 10000000 kbit'];
    const head = this.#style === 'nxos' ? nxos(name, shown) : cisco(name, shown);
    const label = this.#style === 'nxos' ? `  Port description is ${this.#ports.describe(name)}` : `  Description: ${this.#ports.describe(name)}`;
    return { lines: [...head, label, ...rest], isSlow: true, isShow: true };
  }
}

function cisco(name: string, shown: PortShown): string[] {
  const words: Readonly<Record<PortShown, string[]>> = {
    open: [`${name} is up, line protocol is up (connected)`],
    closed: [`${name} is administratively down, line protocol is down (disabled)`],
    pending: [`${name} is administratively down, line protocol is up (connected)`],
    unknown: [`${name} is sideways, line protocol is dancing (confused)`],
    missing: [],
  };
  return words[shown];
}

function nxos(name: string, shown: PortShown): string[] {
  const words: Readonly<Record<PortShown, string[]>> = {
    open: [`${name} is up`, 'admin state is up, Dedicated Interface'],
    closed: [`${name} is down (Administratively down)`, 'admin state is down, Dedicated Interface'],
    pending: [`${name} is up`, 'admin state is down, Dedicated Interface'],
    unknown: [`${name} is sideways (Confused)`, 'admin state is dancing'],
    missing: [],
  };
  return words[shown];
}
