import type { Cloud } from '../shared/cloud/instance-agent.ts';
import { OpenStackAccount } from './account.ts';
import { settingsOf, type OpenStackSettings } from './settings.ts';

export const openstackCloud: Cloud<OpenStackSettings> = {
  settingsOf,
  open: (settings, reach) => new OpenStackAccount(settings, reach),
};
