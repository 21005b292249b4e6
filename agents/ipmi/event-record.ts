/** Kinds of sensors (table 42-3) that tell why a machine fell over. */
const SENSORS: Readonly<Record<number, string>> = {
  0x01: 'Temperature',
  0x02: 'Voltage',
  0x03: 'Current',
  0x04: 'Fan',
  0x05: 'Physical Security',
  0x07: 'Processor',
  0x08: 'Power Supply',
  0x09: 'Power Unit',
  0x0c: 'Memory',
  0x0d: 'Drive Slot',
  0x0f: 'System Firmware Progress',
  0x10: 'Event Logging Disabled',
  0x11: 'Watchdog 1',
  0x12: 'System Event',
  0x13: 'Critical Interrupt',
  0x14: 'Button',
  0x1b: 'Cable/Interconnect',
  0x1d: 'System Boot Initiated',
  0x1f: 'OS Boot',
  0x20: 'OS Stop/Shutdown',
  0x22: 'System ACPI Power State',
  0x23: 'Watchdog 2',
  0x28: 'Management Subsystem Health',
};
const SYSTEM_EVENT = 0x02;
const FIRST_TIMED_OEM = 0xc0;
const FIRST_UNTIMED_OEM = 0xe0;
/** Below this, seconds count from the start of the BMC, whose clock was not set (section 37.1). */
const FIRST_SET_TIME = 0x2000_0000;
const UNSPECIFIED_TIME = 0xffff_ffff;

/** One record of the System Event Log (tables 32-1 to 32-3, 16 bytes) as one line. */
export function describeRecord(record: Buffer): string {
  const id = hexadecimal(record.readUInt16LE(0), 4);
  const type = record.readUInt8(2);
  if (type >= FIRST_UNTIMED_OEM) return `${id} OEM record ${hexadecimal(type, 2)}: ${bytes(record.subarray(3))}`;
  const time = describeTime(record.readUInt32LE(3));
  if (type >= FIRST_TIMED_OEM) return `${id} ${time} OEM record ${hexadecimal(type, 2)}: ${bytes(record.subarray(7))}`;
  if (type !== SYSTEM_EVENT) return `${id} ${time} record ${hexadecimal(type, 2)}: ${bytes(record.subarray(7))}`;
  const sensor = record.readUInt8(10);
  const kind = record.readUInt8(12);
  const name = SENSORS[sensor] ?? `sensor type ${hexadecimal(sensor, 2)}`;
  const direction = (kind & 0x80) === 0 ? 'asserted' : 'deasserted';
  return `${id} ${time} ${name} ${hexadecimal(record.readUInt8(11), 2)} ${direction}: event ${hexadecimal(kind & 0x7f, 2)}, data ${bytes(record.subarray(13, 16))}`;
}

function describeTime(seconds: number): string {
  if (seconds === UNSPECIFIED_TIME) return 'without time';
  if (seconds < FIRST_SET_TIME) return `${seconds} s after its start`;
  return new Date(seconds * 1_000).toISOString();
}

function hexadecimal(value: number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}

function bytes(buffer: Buffer): string {
  return buffer.toString('hex').replace(/..(?=.)/g, '$& ');
}
