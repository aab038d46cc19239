import { jsonChar, skipString, skipValue } from './json-bytes.ts'
import { matches, Members } from './members.ts'

export const noGroup = 0

const kindKey = Buffer.from('kind')
const nameKey = Buffer.from('name')
const generatedNames = [Buffer.from('"ReplicaSet"'), Buffer.from('"Job"')]
const owner = new Members()

/**
 * A number for the objects of all namespaces that probably look alike: those whose first owner has the same kind and
 * name. The generated end of a ReplicaSet's or a Job's name is ignored, so that all revisions of a Deployment and all
 * runs of a CronJob are one group. Two groups may rarely have the same number; then they share a template, which only
 * costs space.
 *
 * `owners` is the index of the value of `ownerReferences`.
 */
export function groupByOwner(bytes: Buffer, end: number, owners: number): number {
  if (bytes[owners] !== jsonChar.openBracket) return noGroup
  if (!owner.open(bytes, owners + 1, end)) return noGroup
  let hash = offsetBasis
  let generated = false
  while (owner.next()) {
    const valueEnd = skipValue(bytes, owner.value, end)
    if (!owner.leave(valueEnd)) return noGroup
    if (owner.is(kindKey)) {
      hash = groupWithin(hash, bytes, owner.value, valueEnd)
      const start = owner.value
      generated = generatedNames.some(
        (kind) => valueEnd - start === kind.length && matches(bytes, start, kind),
      )
    } else if (owner.is(nameKey) && skipString(bytes, owner.value, end) === valueEnd) {
      const stem = generated ? bytes.lastIndexOf(jsonChar.minus, valueEnd) : -1
      return groupWithin(hash, bytes, owner.value, stem > owner.value ? stem : valueEnd)
    }
  }
  return noGroup
}

/** The objects of all namespaces with one name, such as a ConfigMap that every namespace has. */
export function groupByName(bytes: Buffer, start: number, end: number): number {
  return groupWithin(offsetBasis, bytes, start, end)
}

/** The part of a group that also has this text in common: FNV-1a, 32 bits. */
export function groupWithin(group: number, bytes: Buffer, start: number, end: number): number {
  let hash = group
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime)
  return hash
}

const offsetBasis = 0x811c9dc5 | 0
const prime = 0x01000193
