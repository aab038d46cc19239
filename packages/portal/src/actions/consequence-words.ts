const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

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
