/** Commands as typed at the prompt of `ipmitool shell`; each is echoed there word for word. */
export const READ_STATUS = 'chassis power status';

/** Get System GUID. Raw, since `mc guid` of each version of ipmitool guesses the order of the bytes in its own way. */
export const READ_GUID = 'raw 0x06 0x37';

export const SET: Readonly<Record<'on' | 'off', string>> = { on: 'chassis power on', off: 'chassis power off' };
