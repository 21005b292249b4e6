import type { Outcome } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import type { SshConnection } from '../shared/ssh/connection.ts';
import type { Dialogue } from '../shared/ssh/dialogue.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { DIALECTS, type Dialect, type DialectName } from './dialects.ts';

/** Letters, then numbers: nothing that a command line could take for more than a name. */
const PORT = /^[A-Za-z][A-Za-z-]*\d[\w./:-]{0,40}$/;
/** A switch that has said its first prompt says nothing more; banners and pauses between them are shorter. */
const QUIET_MS = 2_000;
const PASSWORD_PROMPT = /^\s*password: ?$/i;

/** A login at the command line of one switch, at its prompt. */
interface Prompt {
  dialogue: Dialogue;
  dialect: Dialect;
  host: string;
  isPrivileged: boolean;
}

/** The command lines of switches over SSH, each by its template. */
export class CommandLine {
  readonly #prompts = new WeakMap<SshConnection, Prompt>();

  /** One `show` of the port. Rejects with `AgentError` or `SshFailure`. */
  async read(connection: SshConnection, call: Call<CallTarget>, name: DialectName, port: string): Promise<PortView> {
    const prompt = await this.#prompt(connection, call, name, undefined);
    const plug = checkedPort(call, port);
    const lines = await ask(prompt, call, prompt.dialect.show(plug), prompt.dialect.prompt(prompt.host), connection);
    const view = prompt.dialect.read(lines);
    if (view === undefined)
      return {
        name: plug,
        description: undefined,
        state: 'unknown',
        detail: `no state of ${plug}, asked at the prompt ${prompt.host} in dialect ${name}, in: ${describeLines(lines, connection)}`,
      };
    if (!isSamePort(view.name, plug)) throw call.error('Unreachable', `asked for ${plug}, the switch shows ${view.name}`);
    return view;
  }

  /** Closes or opens the port. `beforeSend` stands right before the line that changes something; nothing before it does. */
  async set(
    connection: SshConnection,
    call: Call<CallTarget>,
    name: DialectName,
    port: string,
    { wanted, enablePassword, beforeSend }: { wanted: 'open' | 'closed'; enablePassword: string | undefined; beforeSend: () => void },
  ): Promise<Outcome> {
    const prompt = await this.#prompt(connection, call, name, enablePassword);
    const { dialect, host } = prompt;
    const { enter, change, leave } = dialect.change(checkedPort(call, port), wanted);
    for (const line of enter) await ask(prompt, call, line, dialect.configPrompt(host), connection);
    const lines = await ask(prompt, call, change, dialect.configPrompt(host), connection, beforeSend);
    for (const [at, line] of leave.entries()) {
      await ask(prompt, call, line, at === leave.length - 1 ? dialect.prompt(host) : dialect.configPrompt(host), connection);
    }
    const isTaken = dialect.confirmation === undefined || lines.some((line) => dialect.confirmation?.test(line));
    const said = describeLines(lines, connection);
    return { result: isTaken ? 'accepted' : 'unclear', detail: `${change}${said === '' ? '' : `: ${said}`}` };
  }

  /** The prompt of this connection, with pages switched off; with `enablePassword`, a privileged one. */
  async #prompt(connection: SshConnection, call: Call<CallTarget>, name: DialectName, enablePassword: string | undefined): Promise<Prompt> {
    const dialect = DIALECTS[name];
    const known = this.#prompts.get(connection);
    const prompt = known ?? (await logIn(connection, call, name));
    this.#prompts.set(connection, prompt);
    if (enablePassword !== undefined && !prompt.isPrivileged && dialect.hasEnable) await enable(prompt, connection, call, enablePassword);
    return prompt;
  }
}

async function logIn(connection: SshConnection, call: Call<CallTarget>, name: DialectName): Promise<Prompt> {
  const dialect = DIALECTS[name];
  const dialogue = await connection.dialogue(call);
  const first = await dialogue.first(call, dialect.firstPrompt, QUIET_MS);
  if ('strange' in first)
    throw call.error(
      'Misconfigured',
      `after the login the switch waits at ${JSON.stringify(first.strange)}, which is no prompt of dialect ${name}: set the dialect of this switch`,
    );
  const host = dialect.firstPrompt.exec(first.prompt)?.[1] ?? '';
  const prompt = { dialogue, dialect, host, isPrivileged: first.prompt.endsWith('#') };
  for (const line of dialect.prepare) await dialogue.ask(call, line, dialect.prompt(host));
  return prompt;
}

async function enable(prompt: Prompt, connection: SshConnection, call: Call<CallTarget>, password: string): Promise<void> {
  const { dialogue, dialect, host } = prompt;
  const ordinary = dialect.prompt(host);
  const asked = await dialogue.ask(call, 'enable', new RegExp(`${ordinary.source}|${PASSWORD_PROMPT.source}`, 'i'));
  const said = PASSWORD_PROMPT.test(asked.prompt)
    ? await dialogue.answer(call, password, new RegExp(`${ordinary.source}|${PASSWORD_PROMPT.source}`, 'i'))
    : asked;
  if (!said.prompt.endsWith('#'))
    throw call.error(
      'Refused',
      `the switch refuses enable: ${deviceMessage(said.lines.join(' '), [...connection.secrets, password])} (check enable_password)`,
    );
  prompt.isPrivileged = true;
}

/** Types a line; an answer that refuses is `Refused`, in the device's words. */
async function ask(
  { dialogue, dialect }: Prompt,
  call: Call<CallTarget>,
  line: string,
  prompt: RegExp,
  connection: SshConnection,
  gate?: () => void,
): Promise<readonly string[]> {
  const either = new RegExp(`${prompt.source}|${dialect.firstPrompt.source}`);
  const said = await dialogue.ask(call, line, either, gate);
  if (said.lines.some((one) => dialect.refusal.test(one)))
    throw call.error('Refused', `the switch answered ${describeLines(said.lines, connection)} to ${line}`);
  if (!prompt.test(said.prompt))
    throw call.error('Refused', `after ${line} the switch is at ${said.prompt}: ${describeLines(said.lines, connection)}`);
  return said.lines;
}

function describeLines(lines: readonly string[], connection: SshConnection): string {
  return deviceMessage(lines.join(' '), connection.secrets);
}

function checkedPort(call: Call<CallTarget>, port: string): string {
  const plug = port.replace(/^([A-Za-z-]+) (?=\d)/, '$1');
  if (!PORT.test(plug)) throw call.error('Misconfigured', `plug ${JSON.stringify(port)} is no name of a port, such as Ethernet1/7 or ge-0/0/7`);
  return plug;
}

/** Switches write out what people shorten: `Gi1/0/7` is `GigabitEthernet1/0/7`. The numbers must be the same. */
function isSamePort(shown: string, asked: string): boolean {
  const [, shownLetters = '', shownNumber] = /^([A-Za-z-]+)(\d.*)$/.exec(shown) ?? [];
  const [, letters = '', number] = /^([A-Za-z-]+)(\d.*)$/.exec(asked) ?? [];
  return shownNumber === number && shownLetters.toLowerCase().startsWith(letters.toLowerCase());
}
