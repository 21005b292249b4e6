import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import type { ProgramFolder } from '../shared/process/program-folder.ts';
import type { FenceMetadata } from './metadata.ts';

/** Programs that the agent starts; `api_path` is of an address, `store_path` of what it writes. */
const RUN = /^(?!api_path$|store_path$)(?:.*_path|exec)$/;
/** Files that it reads: a key, a certificate, a login; a kubeconfig names programs itself. */
const READ = /^(?:identity_file|token_file|.*key_?file|serviceaccount|openrc|kubeconfig|cacert|tlskey|tlscert|tlscacert|.*_cert)$/;
/** Files that it writes, and any other. */
const WRITTEN = /^(?:store_path|.*_file)$/;
/** Agents with one of these put words into one line with the program that connects, which is split at blanks: a second word would be an option of it. */
const CONNECTING = ['ssh_path', 'telnet_path', 'gnutlscli_path'];
const WORDS: ReadonlySet<string> = new Set(['ip', 'username', 'ipport']);
const WORD = /^[^\s'"\\-][^\s'"\\]*$/;
/** Options of ssh that choose algorithms and times: others run programs or name files. */
const HARMLESS = ['KexAlgorithms', 'HostKeyAlgorithms', 'PubkeyAcceptedAlgorithms', 'PubkeyAcceptedKeyTypes', 'Ciphers', 'MACs'];
const OPTION = new RegExp(`^-o(?:${HARMLESS.join('|')}|ConnectTimeout|ServerAliveInterval|StrictHostKeyChecking)=[A-Za-z0-9@.,+^*_-]+$`);

function useOf(name: string): 'run' | 'read' | undefined {
  if (RUN.test(name)) return 'run';
  return READ.test(name) ? 'read' : undefined;
}

/** What one value would have the agent run, read or write on the controller's machine that the admin did not put into the folder of programs. */
export function localProblem(metadata: FenceMetadata, name: string, value: string | undefined, programs: ProgramFolder): ParameterProblem[] {
  if (value === undefined) return [];
  const problem = (message: string): ParameterProblem[] => [{ parameter: name, message }];
  const use = useOf(name);
  if (use !== undefined) {
    const located = programs.locate(value, use);
    return located.kind === 'found' ? [] : problem(`cannot be used: ${located.message}`);
  }
  if (WRITTEN.test(name)) return problem('is a file of the controller’s machine, which is not for a configuration to name: remove the line');
  if (name === 'ssh_options' && !isHarmless(value))
    return problem('may choose algorithms and times only (such as -oCiphers=...): other options run programs or name files');
  const isWord = WORDS.has(name) && CONNECTING.some((parameter) => metadata.parameters.has(parameter));
  return isWord && !WORD.test(value.trim()) ? problem('must be one word that is no option: the program puts it on a command line') : [];
}

function isHarmless(options: string): boolean {
  return options
    .replaceAll(/-o\s+/g, '-o')
    .trim()
    .split(/\s+/)
    .every((word) => /^-[46tTqC]+$/.test(word) || OPTION.test(word));
}

/** Names of files become the files that they stand for; of canonical names. In words what must not be used after all. */
export function withLocalFiles(named: Parameters, programs: ProgramFolder): { parameters: Parameters } | { refusal: string } {
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries(named)) {
    const use = useOf(name);
    const found = use === undefined ? { file: value } : programs.demand(value, use);
    if ('refusal' in found) return { refusal: `${name} cannot be used: ${found.refusal}` };
    filled[name] = found.file;
  }
  return { parameters: filled };
}
