import type { Cloud } from '../shared/cloud/instance-agent.ts';
import { ProxmoxAccount } from './account.ts';
import { proxmoxSettings, type ProxmoxSettings } from './parameters.ts';

export const proxmoxCloud: Cloud<ProxmoxSettings> = {
  settingsOf: proxmoxSettings,
  open: (settings, reach) => new ProxmoxAccount(settings, reach),
};
