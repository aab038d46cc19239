import { byte, skipString, skipValue } from './json-bytes.ts'
import { matches, Members } from './members.ts'

/** Objects without an owner, all in one group. */
export const generalGroup = 0

const kindKey = Buffer.from('kind')
const nameKey = Buffer.from('name')
const generatedNames = [Buffer.from('"ReplicaSet"'), Buffer.from('"Job"')]
const owner = new Members()

/**
 * The group of objects that are likely to look alike: a number made of the namespace and of the first owner's kind and
 * name. Of a ReplicaSet's or a Job's name its generated end is left out, so that all revisions of a Deployment and
 * all runs of a CronJob are one group. Two groups may rarely get one number: they share a template then, at a loss of
 * space and of nothing else.
 *
 * `owners` is the index of the value of `ownerReferences`, or -1; the namespace is the range with its quotes, or empty.
 */
export function siblingGroup(
  bytes: Buffer,
  end: number,
  owners: number,
  namespaceStart: number,
  namespaceEnd: number,
): number {
  if (owners < 0 || bytes[owners] !== byte.openBracket) return generalGroup
  if (!owner.open(bytes, owners + 1, end)) return generalGroup
  let hash = hashOf(bytes, namespaceStart, namespaceEnd, offsetBasis)
  let generated = false
  while (owner.next()) {
    const valueEnd = skipValue(bytes, owner.value, end)
    if (!owner.leave(valueEnd)) return generalGroup
    if (owner.is(kindKey)) {
      hash = hashOf(bytes, owner.value, valueEnd, hash)
      const start = owner.value
      generated = generatedNames.some(
        (kind) => valueEnd - start === kind.length && matches(bytes, start, kind),
      )
    } else if (owner.is(nameKey) && skipString(bytes, owner.value, end) === valueEnd) {
      const stem = generated ? bytes.lastIndexOf(byte.minus, valueEnd) : -1
      return hashOf(bytes, owner.value, stem > owner.value ? stem : valueEnd, hash)
    }
  }
  return generalGroup
}

/** FNV-1a, 32 bits. */
const offsetBasis = 0x811c9dc5 | 0
const prime = 0x01000193

function hashOf(bytes: Buffer, start: number, end: number, seed: number): number {
  let hash = seed
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime)
  return hash
}
