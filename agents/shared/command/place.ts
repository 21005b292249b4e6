import type { FirstTrust, ParameterProblem } from '../../../src/ports/agents.ts';
import { firstHostKey, firstTrustDocumentation, firstTrustShape } from '../first-trust/parameters.ts';
import type { Documentation } from '../parameter-schema.ts';
import { hostAndPort, sshContradictions, sshDocumentation, sshSettingsOf, sshShape } from '../ssh/parameters.ts';
import type { SshParameters, SshSettings } from '../ssh/parameters.ts';

/** Parameters of an agent whose commands run here, or with `ip` on another machine. */
export const placeShape = { ...sshShape, ...firstTrustShape };

export const placeDocumentation: Readonly<Record<keyof typeof placeShape, Documentation>> = {
  ...sshDocumentation,
  ...firstTrustDocumentation,
  ip: {
    description: 'Host that the commands run on, by SSH; without it they run where the controller runs, from its folder of programs.',
    aliases: ['ipaddr', 'host', 'address'],
  },
  username: { ...sshDocumentation.username, required: false },
};

/** What single parameters of the place cannot say. Of canonical names. */
export function placeProblems(named: Readonly<Record<string, string>>, withSecrets: boolean): ParameterProblem[] {
  if (named['ip'] === undefined) return [];
  const problems = sshContradictions(named, withSecrets);
  return named['username'] === undefined && withSecrets ? [{ parameter: 'username', message: 'is missing: Login name.' }, ...problems] : problems;
}

/** Undefined: here. */
export function placeOf(parameters: SshParameters): SshSettings | undefined {
  return parameters.ip === undefined ? undefined : sshSettingsOf(parameters);
}

/** Of canonical names: the host key that the other machine shows first. */
export function placeFirstTrust(named: Readonly<Record<string, string>>): FirstTrust | undefined {
  return named['ip'] === undefined ? undefined : firstHostKey(named, placeKey(named));
}

/** Of canonical names; what runs here has no address. */
export function placeKey(named: Readonly<Record<string, string>>): string {
  return named['ip'] === undefined ? '' : hostAndPort(named['ip'], named['ipport'] ?? '22');
}
