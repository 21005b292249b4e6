import type { Parameters } from '../../../src/ports/agents.ts';
import { parsed } from '../../shared/parameter-schema.ts';
import { settingsOf, type OpenStackSettings } from '../settings.ts';
import { accessOf, serviceDownParameters, serviceDownProblems } from './parameters.ts';

export interface ServiceDownSettings extends OpenStackSettings {
  evacuates: boolean;
}

/** Typed settings of complete parameters, or the problems in words. */
export function serviceDownSettings(parameters: Parameters): ServiceDownSettings | { problems: readonly string[] } {
  const problems = serviceDownProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(serviceDownParameters, parameters);
  const settings = settingsOf(accessOf(parameters));
  if ('problems' in settings) return settings;
  if (!result.success || problems.length > 0) return { problems };
  return { ...settings, evacuates: result.data.evacuate };
}
