/** PDUs that are known, and whose off cannot be proven: which sysObjectID they show, and what they lack. */
export const REFUSED: readonly { sysObjectId: string; title: string; why: string }[] = [
  {
    // The MIB of its successor has the same outletStatus, and beside it one of the physical outlet.
    sysObjectId: '1.3.6.1.4.1.1418.4',
    title: 'Dataprobe iBootBar (IBOOTBAR-MIB)',
    why: 'its outletStatus may be no more than what was commanded, it has no status of the physical outlet and no current of an outlet, so that nothing would prove an off',
  },
];
