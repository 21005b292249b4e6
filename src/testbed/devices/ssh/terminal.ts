import type { ServerChannel } from 'ssh2';

import type { Clock } from '../../../ports/clock.ts';
import type { CliAnswer, CliKind, CliSession } from './command-line.ts';
import { CiscoCli } from './cisco-cli.ts';
import { FosCli } from './fos-cli.ts';
import { JunosCli } from './junos-cli.ts';
import type { SwitchPorts } from './switch-ports.ts';

interface TerminalOptions {
  clock: Clock;
  ports: SwitchPorts;
  kind: CliKind;
  enablePassword?: string;
}

/** What stands around an answer. */
interface Frame {
  lineEnd: string;
  echo: string;
  prompt: string;
}

const GARBAGE = '\u0007\u001b[2J\ufffd%%$#@ ~~~ \u0001\u0002 not a port at all';
const BANNER = 'Authorized access only.\r\n\r\n';

/** One channel of an SSH session at a switch: what is typed comes out as its command line says, or as its faults say. */
export class Terminal {
  readonly #options: TerminalOptions;
  readonly #channel: ServerChannel;
  readonly #typed: string[];
  #cancel = (): void => undefined;
  #isClosed = false;

  constructor(options: TerminalOptions, channel: ServerChannel, typed: string[]) {
    this.#options = options;
    this.#channel = channel;
    this.#typed = typed;
    channel.on('error', () => undefined);
  }

  /** One command without a terminal; Fabric OS tells no useful code. */
  run(command: string): void {
    this.#typed.push(command);
    // Nobody types here, but only a stream that is read ends.
    this.#channel.resume();
    const cli = this.#options.kind === 'fos' ? new FosCli(this.#options.ports) : this.#session();
    this.#say(cli.type(command), { lineEnd: '\n', echo: '', prompt: '' }, () => {
      this.#channel.exit(0);
      this.#channel.end();
    });
  }

  /** A dialogue by prompt. */
  converse(): void {
    const cli = this.#session();
    let pending = '';
    this.#channel.write(`${BANNER}${cli.prompt()}`);
    this.#channel.on('data', (chunk: Buffer) => {
      pending += chunk.toString('utf8');
      for (let end = pending.search(/[\r\n]/); end >= 0; end = pending.search(/[\r\n]/)) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 1);
        this.#answer(cli, line);
      }
    });
    this.#channel.once('end', () => this.#channel.close());
  }

  /** Takes a late answer off. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #answer(cli: CliSession, line: string): void {
    this.#typed.push(line);
    const isSecret = cli.prompt().startsWith('Password');
    const answer = cli.type(line);
    this.#say(answer, { lineEnd: '\r\n', echo: isSecret ? '\r\n' : `${line}\r\n`, prompt: cli.prompt() }, () => undefined);
  }

  #say({ lines, isSlow = false, isShow = false }: CliAnswer, { lineEnd, echo, prompt }: Frame, finish: () => void): void {
    const { faults } = this.#options.ports;
    const text = echo + lines.map((line) => `${line}${lineEnd}`).join('');
    const say = (): void => {
      if (this.#isClosed) return;
      const wire = isShow ? faults.wire : undefined;
      if (wire === 'hangs') {
        this.#channel.write(text.slice(0, text.length / 3));
        return;
      }
      if (wire === 'truncated') {
        this.#channel.write(text.slice(0, text.length / 3));
        this.#channel.close();
        return;
      }
      this.#channel.write(`${wire === 'garbage' ? echo + GARBAGE + lineEnd : text}${prompt}`);
      finish();
    };
    const waitMs = !isSlow ? 0 : isShow ? (faults.answerMs ?? 0) : (faults.changeAnswerMs ?? faults.answerMs ?? 0);
    if (waitMs === 0) say();
    else this.#cancel = this.#options.clock.after(waitMs, say);
  }

  #session(): CliSession {
    const { kind, ports, enablePassword } = this.#options;
    switch (kind) {
      case 'junos':
        return new JunosCli(ports);
      case 'ios':
      case 'nxos':
      case 'eos':
        return new CiscoCli(ports, kind, enablePassword);
      case 'fos':
        throw new Error('Fabric OS is asked by exec');
    }
  }
}
