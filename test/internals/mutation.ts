import type { Random } from '../../bench/support/random.ts'

/** A JSON text as a tree that keeps what parsing would lose: the order of keys, duplicate keys, spelling. */
export type Tree =
  | { readonly type: 'object'; members: [key: string, value: Tree][] }
  | { readonly type: 'array'; elements: Tree[] }
  /** A number, string, literal as it is to be written. */
  | { readonly type: 'leaf'; text: string }

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { type: 'array', elements: value.map(treeOf) }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, inner]): [string, Tree] => [
      JSON.stringify(key),
      treeOf(inner),
    ])
    return { type: 'object', members }
  }
  return { type: 'leaf', text: JSON.stringify(value) }
}

/** Writes the tree; `space` is called wherever white space may stand. */
export function textOf(tree: Tree, space: () => string = () => ''): string {
  switch (tree.type) {
    case 'leaf':
      return tree.text
    case 'array':
      return `[${space()}${tree.elements.map((inner) => textOf(inner, space)).join(`${space()},${space()}`)}${space()}]`
    case 'object': {
      const members = tree.members.map(
        ([key, inner]) => `${key}${space()}:${space()}${textOf(inner, space)}`,
      )
      return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`
    }
  }
}

/** Leaves that have been, or might be, the undoing of a parser. */
const leaves = [
  '0', '-0', '1', '12', '123', '-1', '1.5', '1e3', '1E+2', '0.1', '1e400', '-1e-400',
  '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993',
  '123456789012345678901234567890', '1234567890123456.5', '1790000000000000000', '1e22',
  'true', 'false', 'null', '""', '"a"', '"ab"', '"abc"', '"\\""', '"\\\\"', '"\\\\\\""', '"]}"', '"},{"',
  '"\\u2028"', '"\u2028"', '"\\ud800"', '"\\udc00x"', '"\\ud83d\\ude00"', '"😀"', '"ü"', '"\\u00fc"', '"漢字"',
  '"\\n\\t\\/"', '"1790000000000000000"', '"]},\\"spec\\":{"', '"\u007f\uffff"',
] as const // prettier-ignore

const keys = [
  '"a"', '"b"', '""', '"10"', '"2"', '"__proto__"', '"constructor"', '"toString"', '"\\u0061"', '"ключ"',
  '"\\"q\\""', '"length"', '"name"', '"kind"', '"apiVersion"', '"metadata"', '"managedFields"',
  '"managed\\u0046ields"', '"annotations"', '"kubectl.kubernetes.io/last-applied-configuration"',
  '"ownerReferences"', '"namespace"', '"spec"',
] as const // prettier-ignore

const pick = <T>(values: readonly T[], random: Random): T =>
  values[Math.floor(random() * values.length)] as T

function everyTree(tree: Tree, found: Tree[] = []): Tree[] {
  found.push(tree)
  if (tree.type === 'array') for (const inner of tree.elements) everyTree(inner, found)
  if (tree.type === 'object') for (const [, inner] of tree.members) everyTree(inner, found)
  return found
}

function randomTree(random: Random, depth = 0): Tree {
  const choice = random()
  if (depth > 3 || choice < 0.6) return { type: 'leaf', text: pick(leaves, random) }
  const count = Math.floor(random() * 4)
  const inner = Array.from({ length: count }, () => randomTree(random, depth + 1))
  return choice < 0.8
    ? { type: 'array', elements: inner }
    : { type: 'object', members: inner.map((value) => [pick(keys, random), value]) }
}

/** Changes one random place of the tree. */
export function mutate(root: Tree, random: Random): void {
  const trees = everyTree(root)
  const tree = pick(trees, random)
  const fresh = (): Tree =>
    random() < 0.7 ? randomTree(random) : structuredClone(pick(trees, random))
  switch (tree.type) {
    case 'leaf':
      tree.text = mutatedLeaf(tree.text, random)
      return
    case 'array':
      mutateList(tree.elements, random, fresh)
      return
    case 'object':
      mutateList(tree.members, random, (): [string, Tree] => [
        random() < 0.2 && tree.members.length > 0
          ? pick(tree.members, random)[0]
          : pick(keys, random),
        fresh(),
      ])
      for (const member of tree.members) if (random() < 0.02) member[0] = pick(keys, random)
  }
}

function mutatedLeaf(text: string, random: Random): string {
  if (!text.startsWith('"') || random() < 0.4) return pick(leaves, random)
  const content = JSON.parse(text) as string
  const at = Math.floor(random() * (content.length + 1))
  const changed = [
    content.slice(0, at),
    content.slice(at),
    `${content.slice(0, at)}ß"\\${content.slice(at)}`,
    `${content}x`,
  ]
  const written = JSON.stringify(pick(changed, random))
  if (random() < 0.8) return written
  // What is an escape already stays one: a letter of it written as another escape would be no JSON.
  return written.replaceAll(/\\u[0-9a-f]{4}|\\.|(?<=[a-z])[a-z]/g, (part) =>
    part.length === 1 && random() < 0.2 ? `\\u00${part.charCodeAt(0).toString(16)}` : part,
  )
}

function mutateList<T>(list: T[], random: Random, fresh: () => T): void {
  const at = Math.floor(random() * (list.length + 1))
  const choice = random()
  if (choice < 0.35) list.splice(at, 0, fresh())
  else if (choice < 0.6) list.splice(at, 1)
  else if (choice < 0.75) list.push(...list.splice(at, 1), ...list.splice(0, 1))
  else if (choice < 0.85) list.splice(at, 1, fresh())
  else if (choice < 0.9) list.length = 0
  else list.push(...structuredClone(list.slice(at, at + 1)))
}
