const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const listed = (counts: string, others: number): string =>
  others === 0 ? counts : `${counts}, and objects of ${counted(others, 'more kind', 'more kinds')}`

/** The texts about what else an action concerns. */
export const consequenceWords = {
  title: 'Consequences',
  asking: 'Asking who else this concerns…',
  /** Of kinds that much goes with. */
  ofKind: {
    Namespace: 'All objects in it are deleted with it.',
    CustomResourceDefinition: 'All objects of its kind are deleted with it, in all namespaces.',
    PersistentVolumeClaim: 'The data goes with it, unless the volume’s reclaim policy is Retain.',
    PersistentVolume: 'Nothing leads to its data any more.',
    Node: 'Its pods are lost with it. Drain it first.',
  } as Readonly<Record<string, string>>,
  /** How much goes with it. */
  gone: {
    what: 'objects',
    inNamespace: (counts: string, others: number): string =>
      `Deleted with it: ${listed(counts, others)}.`,
    owned: (counts: string, others: number): string => `It owns: ${listed(counts, others)}.`,
    claims:
      'The data of claims goes with them, unless the reclaim policy of their volumes is Retain.',
    part: 'It owns more than is counted here.',
    unknown: (why: string): string => `What goes with it is not known: ${why}`,
  },
  emptyDir: 'The data in its emptyDir volumes is lost.',
  usedBy: (count: number): string =>
    `${counted(count, 'object uses', 'objects use')} it and may fail without it:`,
  moreUsers: (count: number): string => `and ${count.toLocaleString('en')} more`,
  usersUnknown: (why: string): string => `Who uses it is not known: ${why}`,
  autoscaler: {
    before: 'Its autoscaler',
    bounds: (least: number, most: number): string =>
      `sets the number again, between ${least} and ${most}.`,
  },
  autoscalerUnknown: (why: string): string =>
    `Whether an autoscaler targets it is not known: ${why}`,
} as const
