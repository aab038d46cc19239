import type { Reversal } from '../object/managed-by.ts'

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** What an action does to the fields of an object that something delivers. */
export type Effect = 'makes' | 'sets'

const effects = { makes: 'makes it again', sets: 'sets what its manifests say again' } as const

const reversals = {
  atOnce: 'at once',
  inTurn: 'when it next reconciles',
  paused: 'when it is resumed',
  whenSynced: 'at its next sync',
  whenUpgraded: 'at its next upgrade',
} as const satisfies Readonly<Record<Reversal, string>>

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
  deliverer: (tool: string, kind: string): string =>
    tool === 'Helm' ? 'Helm delivers it, as the release' : `${tool} delivers it, by the ${kind}`,
  reverts: (tool: string, effect: Effect, reversal: Reversal | undefined): string =>
    `${tool} ${effects[effect]}${reversal === undefined ? '' : ` ${reversals[reversal]}`}.`,
  keeps: (tool: string): string => `${tool} does not revert this.`,
} as const
