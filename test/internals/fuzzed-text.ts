import type { Random } from '../../bench/support/random.ts'
import { mutate, textOf, treeOf } from './mutation.ts'

/** A text of a pod's kin: mutated, as a list item or as a watch event's object, compact or not, seldom corrupt. */
export function fuzzedText(base: unknown, random: Random): string {
  const tree = treeOf(base)
  for (let count = Math.floor(random() ** 3 * 8); count > 0; count--) mutate(tree, random)
  const typed = random()
  if (tree.type === 'object' && typed < 0.6) {
    const partial = typed < 0.2
    const kind = random() < 0.02 ? 'Table' : partial ? 'PartialObjectMetadata' : 'Pod'
    const apiVersion = partial && random() < 0.9 ? 'meta.k8s.io/v1' : 'v1'
    tree.members.unshift(['"kind"', treeOf(kind)], ['"apiVersion"', treeOf(apiVersion)])
  }
  const loose = random()
  if (loose > 0.04) return textOf(tree)
  return textOf(tree, () =>
    random() < loose * 25 ? ([' ', '\n', '\t ', ''][Math.floor(random() * 4)] ?? '') : '',
  )
}
